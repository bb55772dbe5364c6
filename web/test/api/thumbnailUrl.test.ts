import test from 'ava';
import { thumbnailUrl } from '../../src/api/downloads.js';

const entry = { path: 'a b/ö.jpg', size: 1234, mtime: 5678 };

test('the URL of a thumbnail names the path, the area and the size', (t) => {
	t.is(thumbnailUrl('private', entry, 256), '/api/thumbnail/a%20b/%C3%B6.jpg?type=private&size=256&v=1234-5678');
});

test('the URL of a public thumbnail names the owner, with an empty value for no owner', (t) => {
	const url = (owner: string | null) =>
		new URL(thumbnailUrl('public', { ...entry, owner }, 2048), 'http://host').searchParams;
	t.is(url('ada').get('owner'), 'ada');
	t.is(url(null).get('owner'), '');
	t.is(url(null).get('size'), '2048');
});

test('the URL of a thumbnail changes with the content', (t) => {
	t.not(thumbnailUrl('private', entry, 256), thumbnailUrl('private', { ...entry, mtime: 5679 }, 256));
});
