import type { Request } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { ClientInfo } from './proxy.js';

const safeMethods = ['get', 'head', 'options'];

/** Whether the request may change something, so that another site must not be able to send it in a person's name. */
function changesState(request: Request): boolean {
	return request.route.settings.app?.endpoint?.().changesState ?? !safeMethods.includes(request.method);
}

/**
 * Throws `crossSite` for a state-changing request that another site sent, or that is a GET by a link. Programs send neither header;
 * browsers on plain http send no `Sec-Fetch-Site`, so there `Origin` and the cookie's `SameSite` protect it.
 */
export function assertSameSite(request: Request, client: ClientInfo, publicUrl: string): void {
	if (!changesState(request)) return;
	const { 'sec-fetch-site': site, origin } = request.raw.req.headers;
	if (isByMarkup(request)) throw new Failure('crossSite', 'A link or a picture must not change anything.');
	const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
	if (!isOwnSite || (origin !== undefined && !isOwnOrigin(origin, client, publicUrl))) {
		throw new Failure('crossSite', 'This request came from another site.');
	}
}

/**
 * Whether a browser follows a link or loads a picture, neither of which is a call of the page: both may be in a user's file that the page
 * shows. Browsers on plain http send no `Sec-Fetch-Mode`; there a navigation, a picture or a style sheet is known by the types it wishes
 * for.
 */
function isByMarkup(request: Request): boolean {
	if (!safeMethods.includes(request.method)) return false;
	const { 'sec-fetch-mode': mode, accept = '' } = request.raw.req.headers;
	if (mode !== undefined) return mode !== 'cors' && mode !== 'same-origin';
	return ['text/html', 'image/', 'text/css', 'audio/', 'video/'].some((type) => accept.toLowerCase().includes(type));
}

function isOwnOrigin(origin: string, client: ClientInfo, publicUrl: string): boolean {
	if (!URL.canParse(origin)) return false;
	const { host, protocol } = new URL(origin);
	if (publicUrl !== '' && new URL(publicUrl).origin === origin) return true;
	return ['http:', 'https:'].includes(protocol) && host === normalHost(client.host, protocol);
}

/** The host of a URL leaves out its scheme's default port, a Host header may contain it. */
function normalHost(host: string, protocol: string): string {
	const text = `${protocol}//${host}`;
	return URL.canParse(text) ? new URL(text).host : '';
}
