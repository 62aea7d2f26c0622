// The schema of a bank's own words in the error of what failed.
import { Type } from 'typebox';

export const BankWordsSchema = Type.Object(
  {
    code: Type.String({ description: "The bank's response code, as it came." }),
    text: Type.Optional(
      Type.String({ description: 'What the bank says about it, for people. Up to 200 characters.' }),
    ),
  },
  {
    title: 'BankWords',
    description:
      "Only for API keys and webhooks, if a bank declined: the bank's own words. Do not show them to payers.",
  },
);
