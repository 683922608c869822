-- Evidence files of cases. Only added; name and content are sealed.
CREATE TABLE case_file (
    tenant {{uuid}} NOT NULL,
    subject {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    at {{int}} NOT NULL,
    author TEXT NOT NULL,
    kind TEXT NOT NULL,
    size {{int}} NOT NULL,
    hash TEXT NOT NULL,
    name {{bytes}} NOT NULL,
    body {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, subject, id),
    CHECK (kind IN ('pdf', 'png', 'jpeg'))
) {{heap 100}};
