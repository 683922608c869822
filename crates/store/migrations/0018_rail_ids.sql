-- By which of our ids banks name an attempt: the heads of InstrId, EndToEndId and MsgId, whole or cut, and where it stood in
-- which message. Written before the message leaves, so that no answer to it comes unknown.
CREATE TABLE rail_id (
    rail {{key}} NOT NULL,
    -- The id's first fourteen hexadecimal digits.
    head {{int}} NOT NULL,
    attempt {{uuid}} NOT NULL,
    -- The message and the place in it, where the id is a message's.
    message TEXT,
    position {{int}} NOT NULL CHECK (position >= 0),
    PRIMARY KEY (rail, head, attempt),
    CHECK ((message IS NULL) = (position = 0))
) {{clustered 80}};

-- What the rail's bank charged for an attempt beside the rail's price.
ALTER TABLE attempt ADD COLUMN charges {{int}} NOT NULL DEFAULT 0 CHECK (charges >= 0);
-- The charges that an entry names, which explain its amount.
ALTER TABLE rail_entry ADD COLUMN charges {{int}} NOT NULL DEFAULT 0 CHECK (charges >= 0);
