import { basePath } from '../../../../api/client/basePath.js';
import { maxLink } from './linkBounds.js';

interface Page {
	href: string;
	basePath: string;
}

const thisPage = (): Page => ({ href: window.location.href, basePath });

/** Whether a link in a user's file leads to a web or mail address that may be opened by a click. */
export function mayOpenLink(address: string, page = thisPage()): boolean {
	if (address.length > maxLink) return false;
	return /^(https?:|mailto:)/i.test(address) && URL.canParse(address, page.href) && !isOwnCall(address, page);
}

/**
 * Whether an address is a call of this server, which would be made in the reader's name. Cookies know no ports, so any
 * port of the host counts.
 */
export function isOwnCall(address: string, page = thisPage()): boolean {
	if (!URL.canParse(address, page.href)) return false;
	const { hostname, pathname } = new URL(address, page.href);
	if (hostname !== new URL(page.href).hostname) return false;
	try {
		// Proxies may decode a path and join its slashes.
		const path = decodeURIComponent(pathname).replaceAll(/\/{2,}/g, '/');
		return `${path}/`.toLowerCase().startsWith(`${page.basePath}/api/`.toLowerCase());
	} catch {
		return true;
	}
}
