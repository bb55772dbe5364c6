import { AxeBuilder } from '@axe-core/playwright';
import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';

/** Fails if axe finds a violation on the page as it is now. */
export async function clean(t: ExecutionContext, page: Page, state: string): Promise<void> {
	// The page has no frames, for whose results axe would open another page each time.
	const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
	t.deepEqual(
		violations.map(({ id, nodes }) => `${state}: ${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`),
		[],
	);
}
