CREATE TABLE keepers (id INTEGER PRIMARY KEY, name TEXT, station TEXT, year INTEGER, wage INTEGER);
INSERT INTO keepers (id, name, station, year, wage) VALUES
$rows;
