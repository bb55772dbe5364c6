import { parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import {
	type BrowserLocation,
	folderKey,
	homeHref,
	hrefOf,
	parseLocation,
	parseShareLocation,
	type ShareLocation,
	shareHref,
	toLocation,
} from '../../src/features/files/location/location.js';

function parse(url: string): BrowserLocation | undefined {
	const { pathname, searchParams } = new URL(url, 'http://files.example');
	return parseLocation(pathname, searchParams);
}

function at(directory: string, more: Partial<BrowserLocation> = {}): BrowserLocation {
	return { area: 'private', directory: parsePath(directory), search: '', filters: {}, sort: 'type', ...more };
}

const parsesTo = (t: ExecutionContext, url: string, expected: BrowserLocation | undefined) =>
	t.deepEqual(parse(url), expected);

test('a URL without a type means the public area', parsesTo, '/browser', at('', { area: 'public' }));
test('a URL with an unknown type means the public area', parsesTo, '/browser?type=secret', at('', { area: 'public' }));
test('the path of a URL names the folder', parsesTo, '/browser/docs/2026?type=private', at('docs/2026'));
test('a slash at the end of a URL adds no segment', parsesTo, '/browser/docs/?type=private', at('docs'));
test('the segments of a URL are decoded once', parsesTo, '/browser/100%25/a%2520b?type=private', at('100%/a%20b'));
test('an encoded slash in a URL is refused', parsesTo, '/browser/a%2Fb?type=private', undefined);
test('an encoded .. in a URL is refused', parsesTo, '/browser/%2e%2e%2f?type=private', undefined);
test('a URL with an invalid encoding is refused', parsesTo, '/browser/%E0%A4%A?type=private', undefined);
test(
	'a search in a URL is cut at 25 characters',
	parsesTo,
	`/browser?search=${'x'.repeat(40)}`,
	at('', { area: 'public', search: 'x'.repeat(25) }),
);
test(
	'filters are read from a URL, kinds in one order and once',
	parsesTo,
	'/browser?type=private&kind=video,image,video&minSize=10&maxSize=20&after=30&before=40',
	at('', { filters: { kinds: ['image', 'video'], minSize: 10, maxSize: 20, after: 30, before: 40 } }),
);
test(
	'an invalid filter in a URL is left out, the others hold',
	parsesTo,
	'/browser?type=private&kind=image,films&minSize=-1&maxSize=1e3&after=tomorrow&before=40',
	at('', { filters: { before: 40 } }),
);
test(
	'a time in a URL that is no date is left out',
	parsesTo,
	'/browser?type=private&after=9999999999999999&kind=&minSize=9999999999999999',
	at(''),
);
test('a sort mode is read from a URL', parsesTo, '/browser?type=private&sort=rsize', at('', { sort: 'rsize' }));
test('an unknown sort mode in a URL is replaced by the default', parsesTo, '/browser?type=private&sort=mood', at(''));

const roundTrips = (t: ExecutionContext, location: BrowserLocation) => t.deepEqual(parse(hrefOf(location)), location);

test('a folder is the same after its URL is parsed', roundTrips, at('docs'));
test(
	'names with reserved characters are the same after their URL is parsed',
	roundTrips,
	at('a b/100% & #1/ü?/%2F', { search: 'x&y=z' }),
);
test(
	'search and sort mode are the same after their URL is parsed',
	roundTrips,
	at('docs', { area: 'public', search: 'report', sort: 'rtime' }),
);

test(
	'filters without a term are the same after their URL is parsed',
	roundTrips,
	at('docs', { filters: { kinds: ['folder', 'other'], minSize: 0, maxSize: 2 ** 50, after: 0, before: 8.64e15 } }),
);
test('the filters in a URL have the names and forms of the call', (t) => {
	const url = hrefOf(
		at('', { search: 'a b', filters: { kinds: ['image', 'text'], minSize: 5, before: 7 }, sort: 'name' }),
	);
	t.is(url, '/browser?type=private&search=a+b&kind=image,text&minSize=5&before=7&sort=name');
});

test('a URL always has the type, and no other default value', (t) => {
	t.is(hrefOf(at('')), '/browser?type=private');
	t.is(hrefOf(at('a', { area: 'public', sort: 'name' })), '/browser/a?type=public&sort=name');
});

test('opening another folder keeps the sort mode and ends the search', (t) => {
	const search = { search: 'x', filters: { minSize: 1 } };
	t.deepEqual(toLocation(at('a', { ...search, sort: 'name' }), parsePath('b')), at('b', { sort: 'name' }));
});

test('Home leads to the root of the area, and from there to the landing page', (t) => {
	t.is(homeHref(at('a/b')), '/browser?type=private');
	t.is(homeHref(at('', { search: 'x' })), '/browser?type=private');
	t.is(homeHref(at('', { filters: { minSize: 1 } })), '/browser?type=private');
	t.is(homeHref(at('')), '/');
});

test('a folder has the same key in each sort mode', (t) => {
	t.is(folderKey('private', at('a', { sort: 'name' })), folderKey('private', at('a')));
	t.not(folderKey('private', at('a', { search: 'x' })), folderKey('private', at('a')));
	t.not(
		folderKey('private', at('a', { filters: { minSize: 1 } })),
		folderKey('private', at('a', { filters: { maxSize: 1 } })),
	);
	t.not(folderKey('public', at('a')), folderKey('private', at('a')));
});

const inShare: ShareLocation = { token: 'T-1_x', directory: parsePath('a b/c'), search: '', filters: {}, sort: 'type' };

test('the address of a folder of a share has the token and no area', (t) => {
	t.is(shareHref(inShare), '/s/T-1_x/a%20b/c');
	t.is(shareHref({ ...inShare, directory: parsePath(''), search: 'x', sort: 'name' }), '/s/T-1_x?search=x&sort=name');
});

test('a location in a share is read from its address again', (t) => {
	for (const location of [inShare, { ...inShare, directory: parsePath(''), search: 'x', filters: { minSize: 5 } }]) {
		const { pathname, searchParams } = new URL(shareHref(location), 'http://files.example');
		t.deepEqual(parseShareLocation(pathname, searchParams), location);
	}
	t.is(parseShareLocation('/s/T-1_x/a%2Fb', new URLSearchParams()), undefined);
});

test(
	'a URL may name the area of shared folders',
	parsesTo,
	'/browser/Photos%20(ada)/2030?type=shared',
	at('Photos (ada)/2030', { area: 'shared' }),
);
test('the home of a shared folder is the list of these', (t) => {
	t.is(homeHref(at('Photos/2030', { area: 'shared' })), '/browser?type=shared');
	t.is(hrefOf(at('Photos (ada)', { area: 'shared' })), '/browser/Photos%20(ada)?type=shared');
});
