// The checkout in English. Plain words, no blame, and always what to do next.

export const english = {
  /** What stands on the page from the start. */
  page: {
    payTitle: 'Payment',
    bindTitle: 'Save a card',
    to: 'To {shop}',
    testMode: 'Test mode. No money moves.',
    number: 'Card number',
    expiry: 'Valid until',
    expiryShape: 'MM / YY',
    code: 'Security code',
    codeHint: '3 digits on the back of the card',
    holder: 'Name on the card',
    email: 'E-mail for the receipt',
    emailForShop: 'E-mail for the shop',
    emailOptional: 'E-mail for the shop, if you like',
    pay: 'Pay {amount}',
    payPlain: 'Pay',
    hold: 'Reserve {amount}',
    bind: 'Save the card',
    bindHead: 'Save a card for later',
    bindLead:
      'To check the card we charge a small sum and give it back at once. Your bank may ask you to confirm.',
    holdNote: 'The sum is reserved on your card. The shop takes it when your order is ready.',
    safe: 'Card details go straight to the payment service, encrypted. The shop does not see them.',
    close: 'Close',
    noScript: 'This page needs JavaScript to send card details safely. Switch it on and load the page again.',
    loading: 'One moment',
  },
  consent: {
    recurring:
      'I agree that {shop} keeps this card on file and charges it for further payments without asking me each time: {schedule}, {until}.',
    bind: 'I agree that {shop} keeps this card on file and charges it when I buy again, without asking for its details: {schedule}, {until}.',
    stop: 'You can end this at any time: tell {shop}, and no further payment is taken.',
    schedule: 'as agreed with the shop',
    until: 'until I cancel',
    untilDate: 'until {date}',
  },
  /** Under a field. */
  problems: {
    numberMissing: 'Enter the number on the front of the card',
    numberShort: 'The number is not complete',
    numberWrong: 'There is a slip in the number: compare it with the card',
    numberUnknown: 'We do not know this kind of card',
    expiryMissing: 'Enter the month and year, as on the card',
    expiryWrong: 'Enter a month from 01 to 12 and a year',
    expiryPast: 'This card has expired. Use another one',
    codeMissing: 'Enter the security code from the back of the card',
    codeWrong: 'The code has {digits} digits',
    holderMissing: 'Enter the name as it stands on the card',
    holderWrong: 'Letters, spaces and dots only',
    emailMissing: 'Enter your e-mail address',
    emailWrong: 'An e-mail address looks like name@example.com',
    consentMissing: 'Tick the box if you agree. Without it the card cannot be kept on file',
  },
  /** Above the form, when something came to nothing. Nothing was charged in any of these. */
  notices: {
    declined: 'Your bank did not approve the payment. Nothing was charged.',
    InsufficientFunds: 'There is not enough money on this card. Nothing was charged. Try another card.',
    InvalidPaymentTool:
      'The bank does not accept this card. Check number, date and code, or try another card. Nothing was charged.',
    AccountLimitsExceeded:
      'The card’s limit is reached. Nothing was charged. Raise it in your bank’s app, or try another card.',
    RejectedByIssuer:
      'Your bank refused the payment. Nothing was charged. Ask your bank, or try another card.',
    PreauthorizationFailed:
      'The payment was not confirmed with your bank. Nothing was charged. You can try again.',
    timeout: 'The bank did not answer in time. Nothing was charged. You can try again.',
    bindFailed: 'The card could not be saved. Check its details, or try another card.',
    bindUnconfirmed: 'The card was not confirmed with your bank and is not saved. You can try again.',
    bindTimeout: 'The bank did not answer in time and the card is not saved. You can try again.',
    shopCannotBind: 'The shop cannot save cards just now. Nothing was charged. Please tell the shop.',
    tooManyCards: 'Too many cards were tried within a day. Nothing was charged. Try again tomorrow.',
    tooMany: 'Too many tries. Nothing was charged. Try again {when}.',
    shopCannot: 'The shop cannot take this payment just now. Nothing was charged. Please tell the shop.',
    tryAgain: 'That did not work. Nothing was charged. Check the card’s details and try again.',
    unreachable: 'The payment service could not be reached. Nothing was charged. Try again.',
    offline: 'No connection. We go on as soon as it is back.',
    network: 'Card: {network}',
  },
  waiting: {
    head: 'Asking your bank',
    lead: 'This usually takes a few seconds. You need not do anything.',
    slow: 'It takes longer than usual. You can wait here, or close this page: the shop is told either way. Do not pay a second time.',
    offlineLead:
      'The connection is gone. Your payment goes on without it; we show the result as soon as it is back.',
    unsent: 'We are still trying to send your payment. Keep this page open.',
  },
  waitingToBind: {
    head: 'Asking your bank',
    lead: 'This usually takes a few seconds. You need not do anything.',
    slow: 'It takes longer than usual. You can wait here, or close this page: the shop is told either way.',
    offlineLead:
      'The connection is gone. Your bank goes on without it; we show the result as soon as it is back.',
    unsent: 'We are still trying to send your card. Keep this page open.',
  },
  challenge: {
    head: 'Confirm with your bank',
    lead: 'Your bank asks whether it is you.',
    frame: 'Your bank’s page',
    elsewhere: 'Nothing to see? Open it on a page of its own',
    leave: 'Not now',
    leftHead: 'The payment waits for you',
    leftLead:
      'Nothing is charged until you confirm with your bank. Without it the payment is cancelled in a few minutes; then you can try again.',
    bindLeftHead: 'Your card waits for you',
    bindLeftLead: 'It is saved when you confirm with your bank. Until then nothing is charged.',
    resume: 'Confirm now',
  },
  done: {
    paid: 'Paid',
    paidLead: 'Thank you. The shop knows already.',
    held: 'Reserved',
    heldLead: 'Thank you. The sum is reserved on your card; the shop takes it when your order is ready.',
    bound: 'The card is saved',
    boundLead: 'Thank you. The small sum is on its way back to your card.',
    already: 'This is paid already',
    alreadyLead: 'There is nothing more to pay.',
    amount: 'Amount',
    shop: 'Shop',
    product: 'For',
    card: 'Card',
    time: 'Time',
    reference: 'Reference',
    kind: 'Kind',
    kindRecurring: 'Recurring transaction: {schedule}, {until}',
    back: 'Back to the shop',
    backSoon: 'You will be taken back to the shop in a few seconds.',
  },
  ended: {
    cancelledHead: 'This can no longer be paid',
    cancelledLead:
      'The order was cancelled, or its time is over. Nothing was charged. Ask the shop for a new one.',
    deadHead: 'This link no longer works',
    deadLead:
      'It has expired, or a part of it is missing. Go back to the shop and start again; if you have paid, the shop knows.',
    heardHead: 'Your bank has been heard',
    heardLead: 'You can close this window. How it ended stands on the page you came from.',
  },
  /** While the service cannot look anything up. */
  away: {
    head: 'One moment, please',
    lead: 'The payment service cannot be reached just now. If you have paid already, your payment is safe. This page tries again by itself every few seconds.',
    again: 'Try again',
  },
} as const;

/** The same in any language. */
export type Translations = {
  readonly [Part in keyof typeof english]: Readonly<Record<keyof (typeof english)[Part], string>>;
};
