import { contentType, mayShowInline } from '@stowage/rules';

/** How a user's file is sent to a browser: with its type only if that is harmless, else as a download. */
export interface Presentation {
	name: string;
	isInline: boolean;
	/** The client may cache it, but revalidates it each time. */
	isKept: boolean;
	/** The bytes begin as a PDF's do: browsers show a PDF only outside a sandbox. */
	isPdf: boolean;
}

/** Headers of every response with a user's file: it never runs, whatever its type. */
export function userFileHeaders({ name, isInline, isKept, isPdf }: Presentation): Record<string, string> {
	const showsInline = isInline && mayShowInline(name);
	const type = contentType(name);
	const isShownPdf = showsInline && isPdf && type === 'application/pdf';
	return {
		'content-type': type,
		'content-disposition': contentDisposition(showsInline ? 'inline' : 'attachment', name),
		'content-security-policy': `${isShownPdf ? '' : 'sandbox; '}default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'`,
		'x-content-type-options': 'nosniff',
		'cross-origin-resource-policy': 'same-origin',
		'referrer-policy': 'no-referrer',
		'x-robots-tag': 'noindex',
		'cache-control': isKept ? 'private, no-cache' : 'private, no-store',
		vary: 'Cookie',
		'accept-ranges': 'bytes',
	};
}

/**
 * RFC 6266: an ASCII name for old clients and the true one, percent-encoded as RFC 8187 says. The package content-disposition leaves
 * Latin-1 and per cent signs in the plain name, which clients read differently.
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
	const ascii = name.replace(/[^\x20-\x7E]/gu, '_').replace(/["\\%]/g, '_');
	const encoded = encodeURIComponent(name).replace(
		/['()*!]/g,
		(character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
	);
	return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
