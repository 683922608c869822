-- People of the console who sign in at an identity provider (OpenID Connect), and browsers that are on their way there.

-- The name that the provider gives the person; NULL = he signs in with a password. One signs in one way: whoever comes
-- through the provider has neither a password here nor one-time codes.
ALTER TABLE console_user ADD COLUMN provider_name {{key}}
    CHECK (provider_name IS NULL OR (LENGTH(provider_name) BETWEEN 1 AND 255 AND password = '' AND totp IS NULL));
-- Whom the first sign-in bound the person to: nobody else is taken for him, whatever his name there.
ALTER TABLE console_user ADD COLUMN provider_issuer TEXT
    CHECK (provider_issuer IS NULL OR provider_name IS NOT NULL);
ALTER TABLE console_user ADD COLUMN provider_subject TEXT
    CHECK ((provider_subject IS NULL) = (provider_issuer IS NULL));
CREATE UNIQUE INDEX console_user_provider_name ON console_user (provider_name) WHERE provider_name IS NOT NULL;
CREATE UNIQUE INDEX console_user_provider_subject ON console_user (provider_subject, provider_issuer)
    WHERE provider_subject IS NOT NULL;

-- A sign-in that began in one browser. What the provider must answer follows from a token that is nowhere but there.
CREATE TABLE console_departure (
    token_digest {{bytes}} NOT NULL PRIMARY KEY CHECK (LENGTH(token_digest) = 32),
    -- The page that was asked for.
    next_page TEXT NOT NULL,
    created_at {{int}} NOT NULL
) {{heap 70}};
CREATE INDEX console_departure_old ON console_departure (created_at);
