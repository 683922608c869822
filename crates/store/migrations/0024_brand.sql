-- How a tenant's payment pages look. The version names the content: browsers keep it for good.
CREATE TABLE tenant_brand (
    tenant {{uuid}} NOT NULL PRIMARY KEY,
    version {{key}} NOT NULL UNIQUE,
    logo_kind TEXT,
    logo {{bytes}} NOT NULL,
    colour TEXT,
    contact TEXT,
    CHECK (logo_kind IN ('png', 'svg'))
) {{clustered 90}};
