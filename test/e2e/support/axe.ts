import { AxeBuilder } from '@axe-core/playwright';
import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';

/** Fails if axe finds a violation on the page as it is now. */
export async function clean(t: ExecutionContext, page: Page, state: string): Promise<void> {
	// Half a megabyte of script, which would be compiled twice for each state. A frame needs it as well, and may have come only now.
	const isThere = page.frames().length === 1 && (await page.evaluate(() => 'axe' in window));
	const axe = new AxeBuilder({ page, ...(isThere ? { axeSource: ';' } : {}) });
	// The page has no frames, for whose results axe would open another page each time. What passes is not asked for: most of the time goes into telling of it.
	const { violations } = await axe
		.options({ resultTypes: ['violations'] })
		.setLegacyMode()
		.analyze();
	t.deepEqual(
		violations.map(({ id, nodes }) => `${state}: ${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`),
		[],
	);
}

/** Fails if axe finds a violation while the list of a folder that `open` opens is fetched, whose answer is held until it has looked. */
export async function cleanWhileLoading(
	t: ExecutionContext,
	page: Page,
	view: 'list' | 'grid',
	open: () => Promise<void>,
): Promise<void> {
	let answer = () => {};
	const answered = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await page.route('**/api/browse?**', async (route) => {
		await answered;
		await route.continue();
	});
	await open();
	await page.locator(`[role=grid][data-view=${view}][aria-busy=true]`).waitFor();
	await clean(t, page, 'loading');
	answer();
}
