// What the simulated bank says about a decline, for people. Codes without an entry come without a text, as at many banks.
export const declineTexts: Readonly<Record<string, string>> = {
  '05': 'Do not honour',
  '14': 'Invalid card number',
  '41': 'Lost card, pick up',
  '43': 'Stolen card, pick up',
  '51': 'Insufficient funds',
  '54': 'Expired card',
  '57': 'Transaction not permitted to cardholder',
  '91': 'Issuer or switch is inoperative',
  '96': 'System malfunction',
  '1A': 'Additional customer authentication required',
  R1: 'Revocation of authorisation order',
};
