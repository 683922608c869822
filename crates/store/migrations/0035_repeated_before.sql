-- Earlier versions repeated messages without a note of it: what they left open, accepted or not, may have been sent more
-- than once.
UPDATE attempt SET sent_again = 1 WHERE state IN ('indeterminate', 'accepted');
