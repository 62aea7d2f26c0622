// Reference data of payouts: providers, identity classes, residences and currencies.
import { Type, type Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { decimalsOf, isKnownCurrency } from '../../money.ts';
import { accept, refuse } from '../../refusal.ts';
import { residences, type Provider } from '../domain/provider.ts';
import { AnyID } from './shared-schema.ts';
import { defined } from '../../defined.ts';

const ProviderSchema = Type.Object(
  { id: Type.String(), name: Type.String(), residences: Type.Array(Type.String()) },
  { title: 'Provider' },
);
const IdentityClass = Type.Object({ id: Type.String(), name: Type.String() }, { title: 'IdentityClass' });
const Residence = Type.Object(
  { id: Type.String(), name: Type.String(), flag: Type.Optional(Type.String()) },
  { title: 'Residence' },
);
const CurrencySchema = Type.Object(
  {
    id: Type.String(),
    numericCode: Type.Optional(Type.String()),
    name: Type.String(),
    exponent: Type.Integer({ description: 'The number of decimal digits.' }),
  },
  { title: 'Currency' },
);
const AlphaCode = Type.String({ pattern: '^[A-Za-z]{3}$' });
const ProviderPath = Type.Object({ providerID: AnyID });

type Deps = { payouts: { providers: readonly Provider[] } };

export const listProviders = endpoint({
  operation: 'listProviders',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/providers',
  tag: 'Identities',
  summary: 'List the identity providers',
  query: Type.Object({ residence: Type.Optional(AlphaCode) }),
  status: 200,
  response: Type.Array(ProviderSchema),
  errors: [],
  handle: ({ query }, { payouts }: Deps) => {
    const residence = query.residence?.toUpperCase();
    const found = payouts.providers.filter(
      (provider) => residence === undefined || provider.residences.includes(residence),
    );
    return Promise.resolve(accept(found.map(providerBody)));
  },
});

export const getProvider = endpoint({
  operation: 'getProvider',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/providers/{providerID}',
  tag: 'Identities',
  summary: 'Get a provider',
  params: ProviderPath,
  status: 200,
  response: ProviderSchema,
  errors: ['providerNotFound'],
  handle: ({ params }, { payouts }: Deps) => {
    const found = payouts.providers.find(({ id }) => id === params.providerID);
    return Promise.resolve(found ? accept(providerBody(found)) : refuse('providerNotFound'));
  },
});

export const listIdentityClasses = endpoint({
  operation: 'listIdentityClasses',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/providers/{providerID}/identity-classes',
  tag: 'Identities',
  summary: 'List the identity classes of a provider',
  params: ProviderPath,
  status: 200,
  response: Type.Array(IdentityClass),
  errors: ['providerNotFound'],
  handle: ({ params }, { payouts }: Deps) => {
    const found = payouts.providers.find(({ id }) => id === params.providerID);
    return Promise.resolve(found ? accept([...found.classes]) : refuse('providerNotFound'));
  },
});

export const getIdentityClass = endpoint({
  operation: 'getIdentityClass',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/providers/{providerID}/identity-classes/{identityClassID}',
  tag: 'Identities',
  summary: 'Get an identity class',
  params: Type.Object({ providerID: AnyID, identityClassID: AnyID }),
  status: 200,
  response: IdentityClass,
  errors: ['providerNotFound'],
  handle: ({ params }, { payouts }: Deps) => {
    const provider = payouts.providers.find(({ id }) => id === params.providerID);
    const found = provider?.classes.find(({ id }) => id === params.identityClassID);
    return Promise.resolve(found ? accept(found) : refuse('providerNotFound'));
  },
});

export const getResidence = endpoint({
  operation: 'getResidence',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/residences/{residence}',
  tag: 'Identities',
  summary: 'Get a residence',
  params: Type.Object({ residence: AlphaCode }),
  status: 200,
  response: Residence,
  errors: ['residenceNotFound'],
  handle: ({ params }) => {
    const found = residences.find(({ id }) => id === params.residence.toUpperCase());
    return Promise.resolve(found ? accept(found) : refuse('residenceNotFound'));
  },
});

export const getCurrency = endpoint({
  operation: 'getCurrency',
  access: { scope: 'payouts:read' },
  method: 'GET',
  path: '/wallet/v0/currencies/{currencyID}',
  tag: 'Wallets',
  summary: 'Get a currency',
  params: Type.Object({ currencyID: AlphaCode }),
  status: 200,
  response: CurrencySchema,
  errors: ['currencyNotFound'],
  handle: ({ params }) => {
    const id = params.currencyID.toUpperCase();
    return Promise.resolve(isKnownCurrency(id) ? accept(currencyBody(id)) : refuse('currencyNotFound'));
  },
});

const numericCodes: Readonly<Record<string, string>> = { RUB: '643', USD: '840', EUR: '978' };
const names = new Intl.DisplayNames('en', { type: 'currency' });

function currencyBody(id: Parameters<typeof decimalsOf>[0]): Static<typeof CurrencySchema> {
  const numericCode = numericCodes[id];
  return {
    id,
    ...defined({ numericCode }),
    name: names.of(id) ?? id,
    exponent: decimalsOf(id),
  };
}

function providerBody({ id, name, residences: served }: Provider): Static<typeof ProviderSchema> {
  return { id, name, residences: [...served] };
}
