import { Failure, parsePath, type StoragePath } from '@stowage/rules';

const refuse = () => new Failure('invalidPath', 'That is not a valid path.');

/**
 * The path of a request line without its query, as the client spelt it: frameworks resolve dot segments and decode it before it can be
 * checked. A client may name the whole address, as it would to a proxy.
 */
export function rawPathOf(url: string): string {
	const target = url.replace(/^https?:\/\/[^/?#]*/i, '');
	const end = target.search(/[?#]/);
	return end === -1 ? target : target.slice(0, end);
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
