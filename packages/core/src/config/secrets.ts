/** Whether a setting or an option with this name probably holds a secret, which must not be shown. */
export function isSecretName(name: string): boolean {
	return /pass(word|wd|phrase)?$|secret|token|credential|key$|keys$|databaseUrl/i.test(name);
}

/** The same tree, fit to be shown: secrets replaced, also passwords inside addresses. */
export function withoutSecrets(value: unknown, name = ''): unknown {
	if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name));
	if (typeof value === 'object' && value !== null) {
		return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutSecrets(inner, key)]));
	}
	if (typeof value !== 'string') return isSecretName(name) && typeof value === 'number' ? '(set)' : value;
	const shown = withoutPassword(value);
	return shown === value && isSecretName(name) && name !== 'databaseUrl' ? '(set)' : shown;
}

/** Up to the last `@` before a path or query: a password may contain one itself. */
function withoutPassword(address: string): string {
	return address.replace(/^([a-z][a-z\d+.-]*:\/\/[^:@/]*):.*@/i, '$1:***@');
}
