/**
 * The path below which the app is served, without its last slash: `''` or `/files`. The server writes it into a `<meta>`. A
 * `<base>` is forbidden by its content security policy: an injected one would redirect all relative URLs.
 */
export const basePath = readBasePath();

function readBasePath(): string {
	const meta = typeof document === 'undefined' ? null : document.querySelector('meta[name="base-path"]');
	const path = meta?.getAttribute('content') ?? '';
	if (!path.startsWith('/')) return '';
	let end = path.length;
	while (path[end - 1] === '/') end--;
	return path.slice(0, end);
}
