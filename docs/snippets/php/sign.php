<?php
// Signs one call to each service and sends it using only PHP 8: `php sign.php`. The keys come from the environment.
declare(strict_types=1);

function env(string $name): string
{
    $value = getenv('CORRIDOR_' . $name);
    if ($value === false || $value === '') {
        throw new RuntimeException("CORRIDOR_$name is not set");
    }
    return $value;
}

function b64url(string $data): string
{
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}

// The key is the text of the secret key, not its base64-decoded bytes.
function token(string $accessKey, string $secretKey, string $apiUrl, array $more): string
{
    $now = time();
    $header = ['alg' => 'HS256', 'typ' => 'JWT', 'kid' => $accessKey];
    $claims = ['sub' => $accessKey, 'aud' => $apiUrl, 'iss' => $apiUrl, 'iat' => $now, 'exp' => $now + 60] + $more;
    $signed = b64url(json_encode($header, JSON_THROW_ON_ERROR)) . '.' . b64url(json_encode($claims, JSON_THROW_ON_ERROR));
    return $signed . '.' . b64url(hash_hmac('sha256', $signed, $secretKey, true));
}

function send(string $method, string $url, string $bearer, string $body = ''): string
{
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => ["authorization: Bearer $bearer", 'content-type: application/json'],
        'content' => $body,
        'ignore_errors' => true,
        'timeout' => 30,
    ]]);
    $answer = file_get_contents($url, false, $context);
    if ($answer === false || preg_match('#^HTTP/\S+ 2#', $http_response_header[0]) !== 1) {
        throw new RuntimeException("$url: " . ($http_response_header[0] ?? 'no answer') . " $answer");
    }
    return $answer;
}

// POST: the claim `hmac` covers exactly the bytes that are sent.
$body = json_encode(['country' => 'PAK', 'currency' => 'AED', 'amount' => 500], JSON_THROW_ON_ERROR);
$hmac = hash_hmac('sha256', $body, env('SECRET_KEY'));
$bearer = token(env('ACCESS_KEY'), env('SECRET_KEY'), env('BASE_URL'), ['hmac' => $hmac]);
echo send('POST', env('BASE_URL') . '/v2/quote', $bearer, $body), "\n";

// GET: no body, no hmac. Wallet tokens carry roles.
$wallets = env('WALLET_BASE_URL');
$bearer = token(env('WALLET_ACCESS_KEY'), env('WALLET_SECRET_KEY'), $wallets, ['roles' => ['wallet_manager']]);
echo send('GET', $wallets . '/v1/sdk/wallets/' . env('WALLET_ID'), $bearer), "\n";
