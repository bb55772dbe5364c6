const secretNames =
	/pass(wd|phrase)?$|password|pwd$|pw$|secret|token|credential|key$|keys$|bearer|authorization|dsn$|databaseurl|connectionstring/i;

/** Whether a setting or an option with this name probably holds a secret, which must not be shown. */
export function isSecretName(name: string): boolean {
	return secretNames.test(name.replace(/[_-]/g, ''));
}

/** A tree of settings, fit to be shown: secrets replaced, also passwords inside addresses, and all that is below a secret name. */
export function withoutSecrets(value: unknown, name = '', isSecret = false): unknown {
	const isHidden = isSecret || isSecretName(name);
	if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name, isHidden));
	if (typeof value === 'object' && value !== null) {
		// The keys of that map are names of packages.
		const nameOf = (key: string) => (name === 'plugins' ? '' : key);
		return Object.fromEntries(
			Object.entries(value).map(([key, inner]) => [key, withoutSecrets(inner, nameOf(key), isHidden)]),
		);
	}
	if (typeof value === 'number') return isHidden ? '(set)' : value;
	if (typeof value !== 'string') return value;
	return isHidden && name !== 'databaseUrl' ? '(set)' : withoutPassword(value);
}

/** Options of an address that hold no secret. */
const openOptions = new Set(['socket']);

/**
 * An address without its password, the values of its query and its fragment; any other text as it is. A password may contain the
 * characters that separate the parts: where it is not certain which part is which, only the scheme is left.
 */
export function withoutPassword(address: string): string {
	const [, scheme = '', rest = ''] = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/is.exec(address) ?? [];
	if (scheme === '' || /^(sqlite|file):/i.test(scheme)) return address;
	const at = rest.lastIndexOf('@');
	const user = rest.slice(0, Math.max(at, 0));
	if (/[/?#\s]/.test(user)) return `${scheme}***`;
	const [, place = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest.slice(at + 1)) ?? [];
	return [
		scheme,
		at === -1 ? '' : `${shownUser(scheme, user)}@`,
		place,
		query === '' ? '' : `?${query.slice(1).split('&').map(shownOption).join('&')}`,
		fragment === '' ? '' : '#***',
	].join('');
}

/** A user without a password may be a token, but not a database's. */
function shownUser(scheme: string, user: string): string {
	const colon = user.indexOf(':');
	if (colon !== -1) return `${user.slice(0, colon)}:***`;
	return /^mysql:/i.test(scheme) ? user : '***';
}

function shownOption(option: string): string {
	const equals = option.indexOf('=');
	if (equals === -1) return '***';
	return openOptions.has(option.slice(0, equals)) ? option : `${option.slice(0, equals)}=***`;
}

/** A message in which addresses of databases are not shown, whoever has put them in. */
export function withoutDatabaseUrls(message: string): string {
	return message.replace(/\b(mysql|mariadb):\/\/\S+/gi, '$1://***');
}
