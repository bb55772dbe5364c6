/**
 * The path below which the app is served, without its last slash: `''` or `/files`. The server writes it into the page: not
 * as a `<base>`, which its policy forbids, since who slips one into a page sends all its relative addresses elsewhere.
 */
export const basePath = readBasePath();

function readBasePath(): string {
	const meta = typeof document === 'undefined' ? null : document.querySelector('meta[name="base-path"]');
	const path = meta?.getAttribute('content');
	return path?.startsWith('/') ? path.replace(/\/+$/, '') : '';
}
