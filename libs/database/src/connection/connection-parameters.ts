interface Parameter {
  /** The environment variable with its default. */
  readonly variable?: string | undefined;
  /** The values that describe what this library does anyway. Without them, the library uses the parameter. */
  readonly accepted?: readonly string[];
  /** What to do instead of setting another value. */
  readonly fix?: string;
}

const used = (variable?: string): Parameter => ({ variable });
const accepted = (values: readonly string[], fix: string, variable?: string): Parameter => ({ variable, accepted: values, fix });
const rejected = (fix: string, variable?: string): Parameter => accepted([], fix, variable);
/** Returns parameters with the same meaning. */
const each = (names: string, parameter: Parameter): Record<string, Parameter> =>
  Object.fromEntries(names.split(' ').map((name) => [name, parameter]));

const REMOVE = 'it is not supported, so remove it';
const KEEP_ALIVE = 'keep-alive always starts after 10 idle seconds, so remove it';
const VERIFY = 'it is not supported; use sslmode=verify-full to authenticate the server';
const NO_REVOCATION = 'revocation lists are not supported, so remove it';
const NO_SERVICE = 'write the host, the user and the database into the URL';

/**
 * All parameters of libpq 18. A parameter or variable that this library would ignore is an error, because it may make a connection stricter.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
 * https://www.postgresql.org/docs/current/libpq-envars.html
 */
const PARAMETERS: Readonly<Record<string, Parameter>> = {
  host: used('PGHOST'),
  hostaddr: rejected('write the address as the host', 'PGHOSTADDR'),
  port: used('PGPORT'),
  dbname: used('PGDATABASE'),
  user: used('PGUSER'),
  password: used('PGPASSWORD'),
  passfile: rejected('write the password into the URL'),
  require_auth: rejected(VERIFY, 'PGREQUIREAUTH'),
  channel_binding: accepted(['disable', 'prefer'], VERIFY, 'PGCHANNELBINDING'),
  connect_timeout: used('PGCONNECT_TIMEOUT'),
  client_encoding: accepted(['UTF8', 'utf8', 'UTF-8', 'utf-8'], 'the encoding is always UTF8, so remove it'),
  options: used('PGOPTIONS'),
  ...each('application_name fallback_application_name', used()),
  keepalives: accepted(['1'], KEEP_ALIVE),
  ...each('keepalives_idle keepalives_interval keepalives_count', rejected(KEEP_ALIVE)),
  tcp_user_timeout: accepted(['0'], REMOVE),
  replication: accepted(['false', 'off', 'no', '0'], REMOVE),
  gssencmode: accepted(['disable', 'prefer'], 'use sslmode=verify-full to encrypt the connection', 'PGGSSENCMODE'),
  sslmode: used('PGSSLMODE'),
  requiressl: accepted(['0'], 'use sslmode=require', 'PGREQUIRESSL'),
  sslnegotiation: used('PGSSLNEGOTIATION'),
  sslcompression: accepted(['0'], REMOVE),
  sslcert: used('PGSSLCERT'),
  sslkey: used('PGSSLKEY'),
  sslpassword: used(),
  sslcertmode: accepted(['allow'], REMOVE, 'PGSSLCERTMODE'),
  sslrootcert: used('PGSSLROOTCERT'),
  sslcrl: rejected(NO_REVOCATION, 'PGSSLCRL'),
  sslcrldir: rejected(NO_REVOCATION, 'PGSSLCRLDIR'),
  sslsni: accepted(['1'], REMOVE, 'PGSSLSNI'),
  requirepeer: rejected(REMOVE, 'PGREQUIREPEER'),
  ssl_min_protocol_version: used('PGSSLMINPROTOCOLVERSION'),
  ssl_max_protocol_version: used('PGSSLMAXPROTOCOLVERSION'),
  min_protocol_version: accepted(['3.0'], REMOVE, 'PGMINPROTOCOLVERSION'),
  max_protocol_version: accepted(['3.0', '3.2', 'latest'], REMOVE, 'PGMAXPROTOCOLVERSION'),
  gssdelegation: accepted(['0'], REMOVE),
  ...each('krbsrvname gsslib scram_client_key scram_server_key sslkeylogfile', rejected(REMOVE)),
  ...each('oauth_issuer oauth_client_id oauth_client_secret oauth_scope', rejected(REMOVE)),
  service: rejected(NO_SERVICE, 'PGSERVICE'),
  servicefile: rejected(NO_SERVICE),
  target_session_attrs: used('PGTARGETSESSIONATTRS'),
  load_balance_hosts: accepted(['disable'], REMOVE, 'PGLOADBALANCEHOSTS'),
};

export type Parameters = Readonly<Partial<Record<string, string>>>;

/**
 * Adds the defaults of environment variables.
 * @throws Error whose message begins with "must", names the parameter, and does not repeat its value
 */
export function checkedParameters(given: Parameters, env: NodeJS.ProcessEnv = process.env): Parameters {
  const parameters: Record<string, string | undefined> = { ...given };
  for (const [name, value = ''] of Object.entries(given)) checkParameter(name, value, '');
  for (const [name, { variable = '' }] of Object.entries(PARAMETERS)) {
    const value = env[variable];
    if (!value || given[name] !== undefined) continue;
    checkParameter(name, value, ` of the environment variable ${variable}`);
    parameters[name] = value;
  }
  return parameters;
}

function checkParameter(name: string, value: string, origin: string): void {
  const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
  if (!parameter) throw new Error(`must not have ${nameOfParameter(name)}, which libpq does not know: check its spelling, or remove it`);
  const { accepted: values, fix = '' } = parameter;
  if (!values || values.includes(value)) return;
  const except = values.length === 0 ? '' : ` other than ${values.join(', ')}`;
  throw new Error(`must not have the parameter ${name}${origin}${except}: ${fix}`);
}

/** Returns the name of a parameter for messages. Other text may be a part of a password that is not percent-encoded. */
export function nameOfParameter(text: string): string {
  return /^[A-Za-z_]{1,40}$/.test(text) ? `the parameter ${text}` : 'a parameter';
}
