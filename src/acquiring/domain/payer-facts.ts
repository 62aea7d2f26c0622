// What a bank receives about the payer, for 3-D Secure and fraud checks. Personal data.

/** As 3-D Secure asks for it. */
export type BrowserFacts = {
  readonly accept?: string;
  readonly userAgent?: string;
  readonly language?: string;
  readonly javaEnabled?: boolean;
  readonly javaScriptEnabled?: boolean;
  readonly colorDepth?: number;
  readonly screenWidth?: number;
  readonly screenHeight?: number;
  /** In minutes, as the browser says it: -180 in Moscow. */
  readonly timeZoneOffset?: number;
};

export type PostalAddress = {
  readonly line?: string;
  readonly city?: string;
  readonly state?: string;
  readonly postalCode?: string;
  readonly country?: string;
};

export type PayerFacts = {
  readonly ip?: string;
  readonly email?: string;
  readonly fingerprint?: string;
  readonly browser?: BrowserFacts;
  readonly name?: string;
  readonly phone?: string;
  readonly billingAddress?: PostalAddress;
  /** Of the series or the customer. No personal data, and at least 3 characters. */
  readonly reference?: string;
};
