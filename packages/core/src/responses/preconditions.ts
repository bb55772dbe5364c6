import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { trimBlanks } from '../http/requests/trimBlanks.js';

/**
 * The validators of a response: a strong ETag with its quotes, and the modified time in milliseconds; NaN, which matches no date, if
 * unknown.
 */
export interface Validators {
	etag: string;
	mtime: number;
}

/**
 * The outcome of the conditional headers, in the order of RFC 9110, section 13.2.2. The package fresh knows two of the five. Only what a
 * GET or HEAD asks for may be `notModified`.
 */
export function checkPreconditions(
	{ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>,
	{ etag, mtime }: Validators,
): 'go' | 'notModified' | 'failed' {
	const isRead = method === 'GET' || method === 'HEAD';
	const seconds = Math.floor(mtime / 1000);
	const ifMatch = headers['if-match'];
	if (ifMatch !== undefined) {
		if (!listsTag(ifMatch, etag, 'strong')) return 'failed';
	} else if (dateOf(headers['if-unmodified-since']) < seconds) return 'failed';
	const ifNoneMatch = headers['if-none-match'];
	if (ifNoneMatch !== undefined) {
		if (!listsTag(ifNoneMatch, etag, 'weak')) return 'go';
		return isRead ? 'notModified' : 'failed';
	}
	// Not of an older one either: a former version that was restored has its own time again.
	return isRead && dateOf(headers['if-modified-since']) === seconds ? 'notModified' : 'go';
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

/** The forms of a date in a header (RFC 9110, section 5.6.7), of which the last one names no zone. */
const httpDates = [
	/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/,
	/^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT$/,
	/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/,
];

/** Whole seconds; NaN, for which no comparison is true, without a date. `Date.parse` alone takes `0` and `1` for one, too. */
function dateOf(header: string | undefined): number {
	if (header === undefined || !httpDates.some((form) => form.test(header))) return Number.NaN;
	return Math.floor(Date.parse(header.endsWith('GMT') ? header : `${header} GMT`) / 1000);
}
