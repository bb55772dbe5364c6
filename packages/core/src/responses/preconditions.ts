import type { IncomingHttpHeaders } from 'node:http';
import { trimBlanks } from '../http/requests/trimBlanks.js';

/**
 * The validators of a response: a strong ETag with its quotes, and the modified time in milliseconds; NaN, which matches no date, if
 * unknown.
 */
export interface Validators {
	etag: string;
	mtime: number;
}

/** The outcome of the conditional headers, in the order of RFC 9110, section 13.2.2. The package fresh knows two of the five. */
export function checkPreconditions(
	headers: IncomingHttpHeaders,
	{ etag, mtime }: Validators,
): 'go' | 'notModified' | 'failed' {
	const seconds = Math.floor(mtime / 1000);
	const ifMatch = headers['if-match'];
	if (ifMatch !== undefined) {
		if (!listsTag(ifMatch, etag, 'strong')) return 'failed';
	} else if (dateOf(headers['if-unmodified-since']) < seconds) return 'failed';
	const ifNoneMatch = headers['if-none-match'];
	if (ifNoneMatch !== undefined) return listsTag(ifNoneMatch, etag, 'weak') ? 'notModified' : 'go';
	// Not of an older one either: a former version that was restored has its own time again.
	return dateOf(headers['if-modified-since']) === seconds ? 'notModified' : 'go';
}

/**
 * Whether the ranges of a request apply to this version (RFC 9110, section 13.1.5). Without a condition they apply to the one with
 * `knownEtag`, or to any. To a date they never do: a modified time in whole seconds, which may be set, too, is no strong validator.
 */
export function mayUseRange(headers: IncomingHttpHeaders, { etag }: Validators, knownEtag = etag): boolean {
	const ifRange = headers['if-range'];
	return ifRange === undefined ? etag === knownEtag : ifRange === etag;
}

/** Whether a list of ETags has this one, or is `*`. By the weak comparison also one that a proxy has made weak. */
export function listsTag(header: string, etag: string, comparison: 'strong' | 'weak'): boolean {
	return header.split(',').some((part) => {
		const tag = trimBlanks(part);
		return tag === '*' || tag === etag || (comparison === 'weak' && tag === `W/${etag}`);
	});
}

/** Whole seconds; NaN, for which no comparison is true, without a date. */
function dateOf(header: string | undefined): number {
	return header === undefined ? Number.NaN : Math.floor(Date.parse(header) / 1000);
}
