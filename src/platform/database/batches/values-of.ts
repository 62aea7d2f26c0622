// What the driver is given for the parameters of a statement, in their order.
import { inJson } from '../many-rows.ts';
import { parameterOf, type Columns, type Statement, type Values } from '../statement.ts';

export function valuesOf(
  { name: statement, parameterNames, parameters: types, writes }: Statement,
  parameters: Values<Columns>,
): unknown[] {
  const valueOf = writes ? inJson : parameterOf;
  return parameterNames.map((name) => {
    const value = parameters[name];
    // The driver would send null and hide the mistake.
    if (value === undefined) throw new Error(`Statement ${statement} was run without :${name}.`);
    return valueOf(value, types[name]);
  });
}
