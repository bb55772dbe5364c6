import test from 'ava';
import { namesOwner, shareTitle } from '../src/features/sharePage/shareTitle.js';

const untitled = { title: ' ', from: 'ada', only: undefined, mode: 'upload' } as const;

test('the page of a share without a title says once whose it is', (t) => {
	t.is(shareTitle(untitled), 'Send files to ada');
	t.true(namesOwner(untitled));
	t.is(shareTitle({ ...untitled, mode: 'view' }), 'Shared by ada');
	t.true(namesOwner({ ...untitled, mode: 'view' }));
});

test('a title of the owner’s or of the shared item leaves it to the line below', (t) => {
	t.false(namesOwner({ ...untitled, title: 'Trip' }));
	const only = { name: 'docs' } as NonNullable<Parameters<typeof shareTitle>[0]['only']>;
	t.is(shareTitle({ ...untitled, only }), 'docs');
	t.false(namesOwner({ ...untitled, only }));
});
