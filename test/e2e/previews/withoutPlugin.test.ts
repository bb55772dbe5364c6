import test from 'ava';
import { eventually } from '../support/expect.js';
import { setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { closePreview, openPreview, picture, recorded, watchRequests } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test, ['--plugins', JSON.stringify({ '@stowage/preview': false })]));

test.serial('all viewers that do not need the preview plugin work without it', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, {
		'a.png': await picture('png', '40x30', 'red'),
		'b.tif': await picture('tiff', '40x30', 'red'),
		'c.mp4': await recorded('mp4', '-f', 'lavfi', '-i', 'color=red:s=320x240:d=2', '-pix_fmt', 'yuv420p'),
		'd.txt': 'A text.',
	});
	const page = await app.open('/browser?type=private');
	const requests = watchRequests(page, app.url);
	const viewer = await openPreview(page, 'a.png');
	await viewer.getByRole('img', { name: 'a.png' }).waitFor();
	await closePreview(page);
	const scan = await openPreview(page, 'b.tif');
	await scan.getByText('Preview not available').waitFor();
	await closePreview(page);
	const film = await openPreview(page, 'c.mp4');
	await film.locator('video[data-state=loaded]').waitFor();
	await eventually(t, () => film.locator('video').getAttribute('poster'), null);
	await closePreview(page);
	const text = await openPreview(page, 'd.txt');
	await text.getByText('A text.').waitFor();
	t.deepEqual(requests, []);
	t.deepEqual(app.faults, []);
});
