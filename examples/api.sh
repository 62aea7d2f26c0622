# Shell helpers for the guides. Run `. examples/api.sh` in bash or zsh, in the folder the sandbox was started in.

# field NAME: print one field of the JSON on standard input: `field id`, `field invoice.id`, `field '[0].status'`.
# Without that field it prints the response to standard error instead.
field() {
  case $1 in
    \[*) set -- "$1" ;;
    *) set -- ".$1" ;;
  esac
  node -e "
    const body = fs.readFileSync(0, 'utf8').trim() || 'an empty body. After a 401, set KEY again';
    const fail = () => { console.error('Unexpected response: ' + body); process.exit(1); };
    const value = (() => { try { return JSON.parse(body)$1; } catch { fail(); } })();
    value === undefined ? fail() : console.log(value);"
}

SANDBOX=$(npx mandate sandbox --json)
export URL=$(echo "$SANDBOX" | field url) KEY=$(echo "$SANDBOX" | field apiKey)

# api METHOD PATH [BODY]: call the API with the sandbox's API key and print the response.
api() {
  if [ $# -gt 2 ]; then
    curl -sS -w '\n' -X "$1" "$URL$2" -H "Authorization: Bearer $KEY" -H "X-Request-ID: guide-$RANDOM" \
      -H 'Content-Type: application/json' -d "$3"
  else
    curl -sS -w '\n' -X "$1" "$URL$2" -H "Authorization: Bearer $KEY" -H "X-Request-ID: guide-$RANDOM"
  fi
}

# wait_for PATH STATUS: read an object until it has this status, for thirty seconds at most.
wait_for() {
  for _ in $(seq 300); do
    api GET "$1" | grep -q '"status":"'"$2"'"' && return
    sleep 0.1
  done
  echo "$1 does not become $2" >&2
  return 1
}

# new_invoice [AMOUNT]: create an invoice and print its ID.
new_invoice() {
  api POST /v2/processing/invoices '{
    "shopID": "TEST", "dueDate": "2040-01-01T00:00:00Z",
    "amount": '"${1:-49900}"', "currency": "RUB", "product": "One month"
  }' | sed 's/.*"invoice":{"id":"\([^"]*\)".*/\1/'
}

# new_card [NUMBER]: store a test card and print the response with its token.
new_card() {
  api POST /v2/processing/payment-resources '{
    "paymentTool": {
      "paymentToolType": "CardData", "cardNumber": "'"${1:-4242424242424242}"'", "expDate": "12/35", "cvv": "123"
    },
    "clientInfo": {"fingerprint": "guide"}
  }'
}

# pay INVOICE [FIELDS]: pay an invoice with a test card, FIELDS added to the request, and wait until it is captured.
pay() {
  api POST "/v2/processing/invoices/$1/payments" '{
    "payer": {
      "payerType": "PaymentResourcePayer",
      "paymentToolToken": "'"$(new_card | field paymentToolToken)"'",
      "contactInfo": {"email": "payer@example.com"}
    }'"${2:+, $2}"'
  }' > /dev/null
  wait_for "/v2/processing/invoices/$1/payments/1" captured
}

# days_ahead DAYS: print the sandbox's time, moved on by so many days.
days_ahead() {
  api GET /sandbox/clock | DAYS=$1 node -p '
    const { now } = JSON.parse(fs.readFileSync(0));
    new Date(Date.parse(now) + process.env.DAYS * 86_400_000).toISOString()'
}

# move_clock DAYS: move the sandbox's time forward.
move_clock() {
  api POST /sandbox/clock '{"now": "'"$(days_ahead "$1")"'"}'
}
