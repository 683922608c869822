-- The last good copy of each sanction list, for a start while its server is away.

CREATE TABLE list_copy (
    -- The addresses or files that the list is read from, as configured.
    source {{key}} NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    read_at {{int}} NOT NULL
);

-- Its documents, in pieces of a size that every connection carries.
CREATE TABLE list_piece (
    source {{key}} NOT NULL,
    document {{int}} NOT NULL CHECK (document >= 0),
    piece {{int}} NOT NULL CHECK (piece >= 0),
    origin TEXT NOT NULL,
    modified TEXT,
    body {{bytes}} NOT NULL,
    PRIMARY KEY (source, document, piece)
);
