import { parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import {
	type BrowserLocation,
	folderKey,
	homeHref,
	hrefOf,
	parseLocation,
	placeIn,
} from '../../src/features/files/location/location.js';

function parse(url: string): BrowserLocation | undefined {
	const { pathname, searchParams } = new URL(url, 'http://files.example');
	return parseLocation(pathname, searchParams);
}

function at(directory: string, more: Partial<BrowserLocation> = {}): BrowserLocation {
	return { area: 'private', directory: parsePath(directory), search: '', sort: 'type', ...more };
}

const reads = (t: ExecutionContext, url: string, expected: BrowserLocation | undefined) =>
	t.deepEqual(parse(url), expected);

test('without a type it is the public area', reads, '/browser', at('', { area: 'public' }));
test('an unknown type is the public area', reads, '/browser?type=secret', at('', { area: 'public' }));
test('the path is the folder', reads, '/browser/docs/2026?type=private', at('docs/2026'));
test('a slash at the end is no segment', reads, '/browser/docs/?type=private', at('docs'));
test('segments are decoded once', reads, '/browser/100%25/a%2520b?type=private', at('100%/a%20b'));
test('an encoded slash is not a separator', reads, '/browser/a%2Fb?type=private', undefined);
test('an encoded climb is no folder', reads, '/browser/%2e%2e%2f?type=private', undefined);
test('a broken encoding is no folder', reads, '/browser/%E0%A4%A?type=private', undefined);
test(
	'a search is cut at 25 characters',
	reads,
	`/browser?search=${'x'.repeat(40)}`,
	at('', { area: 'public', search: 'x'.repeat(25) }),
);
test('a sort mode is read', reads, '/browser?type=private&sort=rsize', at('', { sort: 'rsize' }));
test('an unknown sort mode is the default', reads, '/browser?type=private&sort=mood', at(''));

const roundTrips = (t: ExecutionContext, location: BrowserLocation) => t.deepEqual(parse(hrefOf(location)), location);

test('a plain folder comes back from its URL', roundTrips, at('docs'));
test('names with reserved characters come back', roundTrips, at('a b/100% & #1/ü?/%2F', { search: 'x&y=z' }));
test('search and sort come back', roundTrips, at('docs', { area: 'public', search: 'report', sort: 'rtime' }));

test('the type is always in the URL, what is the default is not', (t) => {
	t.is(hrefOf(at('')), '/browser?type=private');
	t.is(hrefOf(at('a', { area: 'public', sort: 'name' })), '/browser/a?type=public&sort=name');
});

test('another folder keeps the order and ends the search', (t) => {
	t.deepEqual(placeIn(at('a', { search: 'x', sort: 'name' }), parsePath('b')), at('b', { sort: 'name' }));
});

test('home is the root of the area, and from there the landing page', (t) => {
	t.is(homeHref(at('a/b')), '/browser?type=private');
	t.is(homeHref(at('', { search: 'x' })), '/browser?type=private');
	t.is(homeHref(at('')), '/');
});

test('the order of its rows does not make another folder', (t) => {
	t.is(folderKey(at('a', { sort: 'name' })), folderKey(at('a')));
	t.not(folderKey(at('a', { search: 'x' })), folderKey(at('a')));
	t.not(folderKey(at('a', { area: 'public' })), folderKey(at('a')));
});
