// The checkout in English. Each text is plain, blames no payer and names the next step.

export const english = {
  /** On the page from the start. */
  page: {
    payTitle: 'Payment',
    bindTitle: 'Save a card',
    to: 'To {shop}',
    testMode: 'Test mode. No money moves.',
    unlisted: 'In live mode, only sites that the shop lists can show this page or get the payer back.',
    details: 'What you pay for',
    number: 'Card number',
    expiry: 'Valid until',
    expiryShape: 'MM / YY',
    code: 'Security code',
    codeHint: '3 digits on the back',
    codeHintFront: '4 digits on the front',
    holder: 'Name on the card',
    email: 'E-mail for the receipt',
    emailOptional: 'E-mail for the receipt (optional)',
    savedCard: 'You pay with your saved card: {card}',
    otherCard: 'Use another card',
    savedAgain: 'Pay with {card}',
    pay: 'Pay {amount}',
    payPlain: 'Pay',
    hold: 'Reserve {amount}',
    bind: 'Save the card',
    bindHead: 'Save a card for later',
    bindLead:
      'To check the card we charge {amount} and refund it immediately. Your bank may ask you to confirm.',
    holdNote: 'The sum is reserved on your card. The shop takes it when your order is ready.',
    safe: 'Card details go straight to the payment service, encrypted. The shop does not see them.',
    close: 'Close',
    ask: 'Questions?',
    terms: 'Terms',
    privacy: 'Privacy',
    noScript: 'This page needs JavaScript to send card details safely. Switch it on and load the page again.',
    loading: 'One moment',
  },
  consent: {
    recurring:
      'I agree that {shop} keeps this card on file and charges it for further payments without asking me each time: {terms}',
    bind: 'I agree that {shop} keeps this card on file and charges it when I buy again, without asking for its details: {terms}',
    upTo: 'up to {amount}',
    now: 'This payment is {amount}',
    /** Without an amount. */
    afterNow: 'Later amounts are as agreed with the shop',
    later: 'Amounts are as agreed with the shop',
    trialThen: 'The trial or first price ends on {date}, then it is {amount}',
    trialEnds: 'The trial or first price ends on {date}',
    /** A date, and an amount if one is agreed. */
    next: 'Next charge: {when}',
    further: 'further charges: {count}',
    stop: 'You can end this at any time: open the link in the receipt, or tell {shop}. Then no further payment is taken.',
    /** To a payer who gets no receipts by e-mail. */
    stopByShop: 'You can end this at any time: tell {shop}. Then no further payment is taken.',
    asAgreed: 'as agreed with the shop',
    until: 'until I cancel',
    /** On the receipt, which speaks to the payer. */
    untilYou: 'until you cancel',
    untilDate: 'until {date}',
  },
  /** Under a field. */
  problems: {
    numberMissing: 'Enter the number on the front of the card',
    numberShort: 'Enter the full card number',
    numberWrong: 'Check the card number',
    numberUnknown: 'This type of card is not supported. Use another card',
    expiryMissing: 'Enter the month and year, as on the card',
    expiryWrong: 'Enter a month from 01 to 12 and a year',
    expiryFar: 'Check the year. No card is valid for so long',
    expiryPast: 'This card has expired. Use another card',
    codeMissing: 'Enter the security code of the card',
    codeWrong: 'Enter all {digits} digits of the code',
    holderMissing: 'Enter the name as on the card',
    holderWrong: 'Enter the name without digits or symbols',
    emailMissing: 'Enter your e-mail address',
    emailWrong: 'An e-mail address looks like name@example.com',
    consentMissing: 'Tick the box if you agree. Otherwise the card cannot be saved',
  },
  /** Above the form, after a failure. Nothing was charged in any of these. */
  banners: {
    declined:
      'Your bank did not approve the payment. Nothing was charged. Ask your bank, or try another card.',
    InsufficientFunds: 'There is not enough money on this card. Nothing was charged. Try another card.',
    InvalidPaymentTool:
      'The bank does not accept this card. Check number, date and code, or try another card. Nothing was charged.',
    AccountLimitsExceeded:
      'The card’s limit is reached. Nothing was charged. Raise it in your bank’s app, or try another card.',
    RejectedByIssuer:
      'Your bank declined the payment. Nothing was charged. Ask your bank, or try another card.',
    PreauthorizationFailed:
      'The payment was not confirmed with your bank. Nothing was charged. You can try again.',
    timeout: 'The bank did not answer in time. Nothing was charged. You can try again.',
    bindFailed: 'The card could not be saved. Check its details, or try another card.',
    bindUnconfirmed: 'The card was not confirmed with your bank and is not saved. You can try again.',
    bindTimeout: 'The bank did not answer in time and the card is not saved. You can try again.',
    shopCannotBind: 'The shop cannot save cards at the moment. Nothing was charged. Please contact the shop.',
    tooMany: 'Too many attempts. Nothing was charged. Try again {when}.',
    shopRefusesCards:
      'The shop takes no cards like this one at the moment. Nothing was charged. Try again {when}, or try another card.',
    attemptsExceeded: 'This order takes no more attempts. Nothing was charged. Ask the shop for a new order.',
    shopCannot:
      'The shop cannot take this payment at the moment. Nothing was charged. Please contact the shop.',
    tryAgain: 'The card was not accepted. Nothing was charged. Check its details and try again.',
    savedRefused: 'The saved card cannot be used at the moment. Nothing was charged. Enter a card.',
    unreachable: 'The payment service could not be reached. Nothing was charged. Try again.',
    offline: 'No connection. This page continues when you are online again.',
    network: 'Card: {network}',
  },
  waiting: {
    head: 'Waiting for your bank',
    lead: 'This usually takes a few seconds. You do not need to do anything.',
    slow: 'This takes longer than usual. You can wait here or close this page. The shop gets the result either way. Do not pay a second time.',
    offlineLead:
      'You are offline. Your payment continues, and the result appears here when you are online again.',
    unsent: 'We are still trying to send your payment. Keep this page open.',
  },
  waitingToBind: {
    head: 'Waiting for your bank',
    lead: 'This usually takes a few seconds. You do not need to do anything.',
    slow: 'This takes longer than usual. You can wait here or close this page. The shop gets the result either way.',
    offlineLead:
      'You are offline. The check continues, and the result appears here when you are online again.',
    unsent: 'We are still trying to send your card. Keep this page open.',
  },
  challenge: {
    head: 'Confirm with your bank',
    lead: 'Your bank asks you to confirm that it is you.',
    frame: 'Your bank’s page',
    elsewhere: 'Nothing here? Open your bank’s page separately',
    leave: 'Not now',
    leftHead: 'Your payment is waiting',
    leftLead:
      'Nothing is charged until you confirm with your bank. An unconfirmed payment is cancelled in a few minutes, and you can try again.',
    bindLeftHead: 'Your card is waiting',
    bindLeftLead: 'Confirm with your bank to save it. Until then nothing is charged.',
    resume: 'Confirm now',
  },
  done: {
    paid: 'Paid',
    paidLead: 'Thank you. Your payment is complete.',
    held: 'Reserved',
    heldLead: 'Thank you. The sum is reserved on your card. The shop takes it when your order is ready.',
    bound: 'The card is saved',
    boundLead: 'Thank you. {amount} is being refunded to your card.',
    already: 'This is already paid',
    alreadyLead: 'There is nothing more to pay.',
    amount: 'Amount',
    shop: 'Shop',
    product: 'For',
    card: 'Card',
    time: 'Time',
    reference: 'Reference',
    kind: 'Kind',
    kindRecurring: 'Recurring transaction: {terms}',
    back: 'Back to the shop',
    backSoon: 'You will be taken back to the shop in a few seconds.',
  },
  ended: {
    cancelledHead: 'This can no longer be paid',
    cancelledLead: 'The order was cancelled or has expired. Nothing was charged. Ask the shop for a new one.',
    deadHead: 'This link no longer works',
    deadLead:
      'It has expired or is incomplete. Go back to the shop and start again. If you have already paid, the shop knows.',
    notFoundHead: 'Page not found',
    notFoundLead: 'Check the address. If a shop or an email brought you here, open its link again.',
    heardHead: 'Your bank has replied',
    heardLead: 'You can close this window. The result is on the page you came from.',
    /** Where a shop shows its own page. */
    heardShopLead: 'You can close this window and go back to the shop.',
  },
  /** Between the bank and a site that the shop has not listed. */
  leaving: {
    head: 'You are leaving the payment page',
    lead: 'Your bank has replied. The shop sends you on to this site:',
    check: 'Continue only if you know it. Your payment needs no more card details.',
    onward: 'Continue',
    note: 'This is a sandbox: the page continues in {seconds} seconds. In live mode the payer clicks, unless the shop has listed the site.',
  },
  /** While the service cannot read its database. */
  away: {
    head: 'One moment, please',
    lead: 'The payment service is unavailable. If you have already paid, your payment is safe. This page tries again every few seconds.',
    again: 'Try again',
  },
} as const;

/** The same in any language. */
export type Translations = {
  readonly [Part in keyof typeof english]: Readonly<Record<keyof (typeof english)[Part], string>>;
};
