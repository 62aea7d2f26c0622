// The failure of a transfer or a payout as the API shows it.
import { Type } from 'typebox';

const DeepestFailure = Type.Object({ code: Type.String() });
const InnerFailure = Type.Object({ code: Type.String(), subError: Type.Optional(DeepestFailure) });
const SubFailure = Type.Object({ code: Type.String(), subError: Type.Optional(InnerFailure) });
export const Failure = Type.Object(
  { code: Type.String(), subError: Type.Optional(SubFailure) },
  { title: 'PayoutFailure', description: 'From the outermost code inwards.' },
);
