import { AxeBuilder } from '@axe-core/playwright';
import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';

/**
 * What is measured is the contrast of an open dialog or menu, or else of the whole page: that takes most of the time, and
 * what lies below is dimmed then, and measured without it.
 */
const contrastOfTheTopmost = `;axe.configure({ rules: [{
	id: 'color-contrast',
	selector: document.querySelector('body > :not(#root) :is([role=dialog], [role=alertdialog], [role=menu])') ? 'body > :not(#root) *' : '*',
}] });`;

/** Fails if axe finds a violation on the current page. */
export async function assertAccessible(t: ExecutionContext, page: Page, state: string): Promise<void> {
	// Half a megabyte of script, which would be compiled twice for each state. A frame needs it as well, and may be new.
	const isLoaded = page.frames().length === 1 && (await page.evaluate(() => 'axe' in window));
	const axe = new AxeBuilder({ page, ...(isLoaded ? { axeSource: contrastOfTheTopmost } : {}) });
	// The page has no frames, for whose results axe would open another page each time. Passed rules are not reported,
	// which would take most of the time.
	const { violations } = await axe
		.options({ resultTypes: ['violations'] })
		.setLegacyMode()
		.analyze();
	t.deepEqual(
		violations.map(({ id, nodes }) => `${state}: ${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`),
		[],
	);
}

/** Fails if axe finds a violation while the folder that `open` opens is loading. Its answer is held until axe has ended. */
export async function assertAccessibleWhileLoading(
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
	await assertAccessible(t, page, 'loading');
	answer();
}
