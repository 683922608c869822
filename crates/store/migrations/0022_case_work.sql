-- Work on cases that users decide: payments, deposits and exchange orders. Notes are only added, and sealed.
CREATE TABLE case_note (
    tenant {{uuid}} NOT NULL,
    subject {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    at {{int}} NOT NULL,
    author TEXT NOT NULL,
    body {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, subject, id)
) {{clustered 90}};

-- Who works on a case, and until when it has to be decided.
CREATE TABLE case_work (
    tenant {{uuid}} NOT NULL,
    subject {{uuid}} NOT NULL,
    assignee TEXT,
    due_at {{int}},
    PRIMARY KEY (tenant, subject)
) {{clustered 90}};
