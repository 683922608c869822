-- Views that users of the console save: the filters and columns of a list under a name. The query is sealed, since it
-- may hold the end of an account. One view of a list may open with it.
CREATE TABLE saved_view (
    user_id {{uuid}} NOT NULL,
    list {{key}} NOT NULL,
    name {{key}} NOT NULL,
    query {{bytes}} NOT NULL,
    is_default {{int}} NOT NULL,
    PRIMARY KEY (user_id, list, name),
    CHECK (is_default IN (0, 1))
) {{clustered 90}};
CREATE UNIQUE INDEX saved_view_default ON saved_view (user_id, list) WHERE is_default = 1;
