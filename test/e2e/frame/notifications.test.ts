import test from 'ava';
import { plant, prepareStage, rowOf } from '../support/fileManager.js';
import { noticeMs } from '../support/notices.js';

const stage = prepareStage(test);

test.serial(
	'a notice goes after three seconds under a mouse at rest, and stays while somebody points at it',
	async (t) => {
		const manager = await stage.enter(t);
		await plant(manager.home, { 'a.txt': 'a' });
		const page = await manager.open('/browser?type=private');
		const notice = page.getByRole('status').filter({ hasText: 'Copied a.txt' });
		await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
		// Where the bar will be.
		await page.mouse.move(640, 760);
		await page.keyboard.press('Control+c');
		await notice.waitFor();
		await notice.waitFor({ state: 'detached' });

		await page.keyboard.press('Control+c');
		await notice.waitFor();
		await page.mouse.move(650, 762);
		await page.waitForTimeout(noticeMs + 1000);
		t.true(await notice.isVisible());
		await page.mouse.move(640, 300);
		await notice.waitFor({ state: 'detached' });
		t.deepEqual(manager.faults, []);
	},
);
