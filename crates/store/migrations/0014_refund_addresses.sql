-- Where senders want money sent back that is not accepted: every answer, kept for good.
CREATE TABLE refund_address (
    tenant {{uuid}} NOT NULL,
    request {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    sender {{uuid}} NOT NULL,
    at {{int}} NOT NULL,
    document {{bytes}} NOT NULL,
    PRIMARY KEY (tenant, request, id)
) {{heap 100}};
