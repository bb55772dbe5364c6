import { Failure, parsePath, type StoragePath } from '@stowage/rules';

const refuse = () => new Failure('invalidPath', 'That is not a valid path.');

/**
 * The path and query of a request line; undefined where it has none. A client may name the whole address, as it would to a proxy: hapi
 * would read that otherwise, in the square of the length of its query, and resolve its dot segments.
 */
export function originForm(target: string): string | undefined {
	if (target.startsWith('/')) return target;
	const [origin] = /^https?:\/\/[^/?#]+/i.exec(target) ?? [];
	if (origin === undefined) return undefined;
	const rest = target.slice(origin.length);
	return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The path without its query, as the client spelt it: frameworks resolve dot segments and decode it before it can be checked. */
function rawPathOf(url: string): string {
	const end = url.search(/[?#]/);
	return end === -1 ? url : url.slice(0, end);
}

/** Refuses paths that a correct client never sends: bad percent-encoding and segments that decode to `.` or `..`. */
export function checkRawPath(url: string): void {
	for (const segment of rawPathOf(url).split('/')) {
		const decoded = decodeSegment(segment);
		if (decoded === '.' || decoded === '..') throw refuse();
	}
}

/** Decodes the path after `prefix`, each segment exactly once, so that `a%2Fb` is never taken for `a/b`. */
export function decodePath(url: string, prefix: string): StoragePath {
	const raw = rawPathOf(url);
	if (!raw.startsWith(prefix)) throw refuse();
	const segments = raw.slice(prefix.length).split('/').map(decodeSegment);
	if (segments.some((segment) => segment.includes('/'))) throw refuse();
	return parsePath(segments.join('/'));
}

function decodeSegment(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch (cause) {
		throw new Failure('invalidPath', 'That is not a valid path.', { cause });
	}
}
