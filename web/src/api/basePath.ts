/**
 * The path below which the app is served, without its last slash: `''` or `/files`. The server writes it into the page's
 * `<base>`. The attribute is read, since the property is resolved against the address.
 */
export const basePath = readBasePath();

function readBasePath(): string {
	const href = typeof document === 'undefined' ? null : document.querySelector('base')?.getAttribute('href');
	return href?.startsWith('/') ? href.replace(/\/+$/, '') : '';
}
