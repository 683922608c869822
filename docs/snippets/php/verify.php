<?php
// Verifies a webhook:
// php verify.php <webhook-id> <webhook-timestamp> <webhook-signature> [now] < raw body
declare(strict_types=1);

const TOLERANCE_S = 300;

function genuine(array $secrets, string $id, string $sent, string $signatures, string $body, int $now): bool
{
    if (preg_match('/\A[0-9]{1,15}\z/', $sent) !== 1 || abs($now - (int) $sent) > TOLERANCE_S) {
        return false;
    }
    $found = false;
    foreach ($secrets as $secret) {
        $key = base64_decode(preg_replace('/\Awhsec_/', '', $secret), true);
        if ($key === false) {
            throw new RuntimeException('CORRIDOR_WEBHOOK_SECRET: not base64');
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
        foreach (explode(' ', $signatures) as $given) {
            // Compares in constant time.
            $found = hash_equals($expected, $given) || $found;
        }
    }
    return $found;
}

// One secret, or two separated by a space during a rotation.
$secrets = preg_split('/ +/', trim((string) getenv('CORRIDOR_WEBHOOK_SECRET')), -1, PREG_SPLIT_NO_EMPTY);
$now = isset($argv[4]) ? (int) $argv[4] : time();
$verdict = genuine($secrets, $argv[1], $argv[2], $argv[3], stream_get_contents(STDIN), $now);
echo $verdict ? 'genuine' : 'forged', "\n";
exit($verdict ? 0 : 1);
