import { Failure } from '@stowage/rules';
import { onlineManager, QueryClient, QueryObserver } from '@tanstack/react-query';
import test from 'ava';
import { failureFrom, NetworkFailure } from '../../src/api/client/client.js';
import { HttpFailure, mayBeReadLater } from '../../src/api/previews.js';
import { firstBytesQuery } from '../../src/features/previews/common/bytes/firstBytes.js';
import { previewFile } from '../../src/features/previews/common/bytes/previewFile.js';
import { errorWithoutData, keptAsRead } from '../../src/features/previews/common/bytes/previewQuery.js';
import { renditionQuery } from '../../src/features/previews/image/rendition.js';

const addressOf = () => 'file';
const source = { viewUrl: addressOf, downloadUrl: addressOf, tabUrl: addressOf, thumbnailUrl: addressOf };
const file = previewFile(source as never, { name: 'a.heic', path: 'a.heic', type: 'file', size: 9, mtime: 0 });

test.serial('what is shown of a file is not read again when the network comes back', async (t) => {
	for (const [name, query] of Object.entries({
		rendition: renditionQuery('rendition'),
		firstBytes: firstBytesQuery(file),
		other: { queryKey: ['other'], ...keptAsRead },
	})) {
		let reads = 0;
		const client = new QueryClient();
		client.mount();
		const options = { ...query, queryKey: [name], queryFn: async () => ++reads, staleTime: 0 };
		const observer = new QueryObserver(client, options as never);
		const first = new Promise<void>((resolve) => {
			t.teardown(observer.subscribe(({ isSuccess }) => isSuccess && resolve()));
		});
		await first;
		onlineManager.setOnline(false);
		onlineManager.setOnline(true);
		await new Promise((resolve) => setTimeout(resolve));
		t.is(reads, 1, name);
		client.unmount();
		client.clear();
	}
});

test('an error counts as long as there is nothing to show', (t) => {
	const error = new Error('Network error');
	t.is(errorWithoutData({ data: undefined, error }), error);
	t.is(errorWithoutData({ data: new Uint8Array(), error }), null);
	t.is(errorWithoutData({ data: undefined, error: null }), null);
});

test('a file is tried again where the failure says nothing about it', (t) => {
	const answered = (status: number) => new HttpFailure(status, failureFrom(status, undefined, null));
	const ours = new HttpFailure(404, new Failure('notFound', 'Gone'));
	for (const error of [new NetworkFailure(), answered(502), answered(503), answered(429)])
		t.true(mayBeReadLater(error));
	for (const error of [ours, new Failure('tooLarge', 'Too large'), new Error('Broken')]) t.false(mayBeReadLater(error));
});
