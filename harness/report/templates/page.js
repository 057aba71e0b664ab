"use strict";
// Sort a table by the column whose heading is pressed; what is not there stays at the end.
function key(row, column) {
  const cell = row.cells[column];
  const number = cell.dataset.s;
  if (number !== undefined) return Number(number);
  const text = cell.textContent.trim();
  return text === "" || text === "–" ? null : text;
}
function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}
function sort(table, heading, column) {
  const down = heading.getAttribute("aria-sort") === "ascending";
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => ({ row, key: key(row, column) }));
  rows.sort((a, b) => compare(a.key, b.key, down ? -1 : 1));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.dataset.sorted = "";
  body.append(...rows.map((found) => found.row));
}
for (const table of document.querySelectorAll("table.sortable")) {
  Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
    heading.firstElementChild.addEventListener("click", () => sort(table, heading, column));
  });
}
// A link into a folded part unfolds it.
function unfold() {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  for (let part = place; part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  place.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
