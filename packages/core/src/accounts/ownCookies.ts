import type { IncomingHttpHeaders } from 'node:http';

/** What a sealed value may look like; anything else under the same name is another program's. */
const sealed = /^Fe26\.2\*[\w*~-]+$/;

/**
 * Leaves in the header only what can be a cookie of ours under this name. Another program on the host, or one that knew the host before us, may have set a
 * cookie of the same name or one that can't be parsed: neither may keep a person's own from being seen. Several may remain.
 */
export function keepOwnCookies(headers: IncomingHttpHeaders, name: string): void {
	if (headers.cookie === undefined) return;
	const own = headers.cookie
		.split(';')
		.map((pair) => pair.trim())
		.filter((pair) => pair.startsWith(`${name}=`) && sealed.test(pair.slice(name.length + 1)));
	headers.cookie = own.join('; ');
}
