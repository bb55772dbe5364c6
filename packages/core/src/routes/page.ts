import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { Request, ServerRoute } from '@hapi/hapi';
import { Failure } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { escapeHtml } from '../escapeHtml.js';
import type { ClientInfo } from '../http/requests/proxy.js';
import { CompressedAssets } from './CompressedAssets.js';
import type { PagePreview } from './shares/sharePreview.js';

const viewerHosts = 'https://view.officeapps.live.com https://docs.google.com';

/**
 * The page for every address of the app, rendered for each request: its policy admits only scripts with this response's nonce, so an
 * uploaded file never runs although it comes from the same origin.
 */
export async function pageRoutes(
	config: Config,
	webRoot: string,
	previewOfShare: (request: Request) => Promise<PagePreview>,
): Promise<ServerRoute[]> {
	const assetFolder = path.join(webRoot, 'assets');
	// A fixed list: no other name, such as one that is too long for the disk, is ever looked up there.
	const found = await readdir(assetFolder, { recursive: true, withFileTypes: true });
	const assets: ReadonlySet<string> = new Set(
		found
			.filter((each) => each.isFile())
			.map(({ parentPath, name }) => path.relative(assetFolder, path.join(parentPath, name))),
	);
	const copies = new CompressedAssets(assetFolder);
	const template = await readFile(path.join(webRoot, 'index.html'), 'utf8');
	// The page of a share has another frame, and fetches nothing of this one.
	const isOfFrame = (line: string) => line.trimStart().startsWith('<link ') && line.includes(' data-frame');
	const shareTemplate = template
		.split('\n')
		.filter((line) => !isOfFrame(line))
		.join('\n');
	const page = (route: string, previewOf?: typeof previewOfShare): ServerRoute => ({
		method: 'GET',
		path: route,
		options: { auth: false },
		async handler(request, h) {
			const preview = await previewOf?.(request);
			const nonce = randomBytes(18).toString('base64');
			const html = (previewOf === undefined ? template : shareTemplate)
				.replaceAll('__NONCE__', nonce)
				.replaceAll('__BASE_HREF__', `${config.basePath}/`);
			const response = h
				// Last: what its owner calls a share is no place for the nonce.
				.response(preview === undefined ? html : withPreview(html, preview))
				.type('text/html')
				.header('cache-control', 'no-store');
			for (const [name, value] of Object.entries(pageHeaders(config, nonce, isTrustworthy(request.client))))
				response.header(name, value);
			return preview === undefined ? response : response.header('x-robots-tag', 'noindex').code(preview.status);
		},
	});
	return [
		page('/'),
		page('/browser'),
		page('/browser/{path*}'),
		page('/trash'),
		page('/s/{token}', previewOfShare),
		page('/s/{token}/{path*}', previewOfShare),
		{
			method: 'GET',
			path: '/assets/{file*}',
			options: { auth: false, cache: { otherwise: 'public, max-age=31536000, immutable' } },
			async handler(request, h) {
				const name = String(request.params.file);
				if (!assets.has(name)) throw new Failure('notFound', 'There is nothing here.');
				const copy = request.info.acceptEncoding === 'gzip' ? await copies.get(name) : undefined;
				// Or hapi would compress the file for this request.
				request.info.acceptEncoding = 'identity';
				const known = request.server.mime.path(name);
				const response =
					copy === undefined
						? h.file(path.join(assetFolder, name), { confine: assetFolder, etagMethod: false })
						: h
								.response(Readable.from([copy], { objectMode: false }))
								.bytes(copy.length)
								.type('type' in known ? known.type : 'application/octet-stream')
								.header('content-encoding', 'gzip');
				return (
					response
						.header('vary', 'accept-encoding')
						.header('content-security-policy', assetPolicy)
						// The viewers' frame has an opaque origin. The files are the same for everybody.
						.header('access-control-allow-origin', '*')
				);
			},
		},
		{
			method: 'GET',
			path: '/viewer-frame',
			options: { auth: false },
			handler(request, h) {
				const script = String(request.query.script);
				if (!frameScript.test(script) || !assets.has(script)) throw new Failure('notFound', 'There is nothing here.');
				const nonce = randomBytes(18).toString('base64');
				const source = `${config.basePath}/assets/${script}`;
				const response = h
					.response(`<!doctype html><title></title><script type="module" nonce="${nonce}" src="${source}"></script>`)
					.type('text/html');
				const headers = { ...frameHeaders(nonce), ...(isTrustworthy(request.client) ? ownCluster : {}) };
				for (const [name, value] of Object.entries(headers)) response.header(name, value);
				return response;
			},
		},
	];
}

/** The page with what is shown of its address elsewhere, in place of what it says of the product. */
function withPreview(template: string, { title, description, picture }: PagePreview): string {
	const tags = [
		`<title>${escapeHtml(title)}</title>`,
		`<meta name="description" content="${escapeHtml(description)}">`,
		'<meta property="og:type" content="website">',
		'<meta property="og:site_name" content="Stowage">',
		`<meta property="og:title" content="${escapeHtml(title)}">`,
		`<meta property="og:description" content="${escapeHtml(description)}">`,
		...(picture === undefined ? [] : [`<meta property="og:image" content="${escapeHtml(picture)}">`]),
	];
	// By functions: in a text a dollar sign would mean something else.
	return template.replace(/<meta name="description"[^<>]*>/, '').replace(/<title>[^<]*<\/title>/, () => tags.join(''));
}

/** The script of the viewers' frame, by the name that the page's build gives it. */
const frameScript = /^viewerFrame-[\w-]+\.js$/;

/**
 * The document in which a user's books, documents and drawings are laid out, and PDFs read by a worker, which has its
 * policy. Its origin is opaque: browsers give it a process of its own, and nothing in it reaches the page or the
 * session. Only the page's own script runs there, and nothing can be read but its parts, and the fonts, tables and
 * decoders of pdf.js, without a session.
 */
const frameHeaders = (nonce: string): Record<string, string> => ({
	'content-security-policy': `sandbox allow-scripts; default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'; style-src 'unsafe-inline'; img-src blob: data:; font-src 'self' blob: data:; frame-ancestors 'self'`,
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'cross-origin-resource-policy': 'same-origin',
	'cache-control': 'no-store',
});

/** All documents of one origin must send it, or none. */
const ownCluster: Record<string, string> = { 'origin-agent-cluster': '?1' };

/** The policy of workers, the only files of the page that have one of their own. */
const assetPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'";

/** Browsers heed some headers only on https or this very machine, and complain of them elsewhere. */
function isTrustworthy({ isHttps, host }: ClientInfo): boolean {
	return isHttps || /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(host);
}

function pageHeaders(
	{ externalViewers, publicUrl }: Config,
	nonce: string,
	isSecureContext: boolean,
): Record<string, string> {
	const viewers = externalViewers ? ` ${viewerHosts}` : '';
	const fullscreen = externalViewers ? '(self "https://view.officeapps.live.com" "https://docs.google.com")' : '(self)';
	return {
		'content-security-policy': [
			"default-src 'none'",
			`script-src 'nonce-${nonce}' 'strict-dynamic'`,
			`style-src-elem 'self' 'nonce-${nonce}'`,
			"style-src-attr 'unsafe-inline'",
			"img-src 'self' blob: data:",
			"media-src 'self' blob:",
			"font-src 'self'",
			"connect-src 'self'",
			"worker-src 'self' blob:",
			`frame-src 'self' blob:${viewers}`,
			"object-src 'none'",
			"base-uri 'none'",
			"form-action 'self'",
			"frame-ancestors 'none'",
		].join('; '),
		'referrer-policy': 'no-referrer',
		...(isSecureContext ? { 'cross-origin-opener-policy': 'same-origin', ...ownCluster } : {}),
		'cross-origin-resource-policy': 'same-origin',
		'x-frame-options': 'DENY',
		'permissions-policy': `camera=(), microphone=(), geolocation=(), usb=(), fullscreen=${fullscreen}`,
		...(publicUrl.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
	};
}
