import test, { type ExecutionContext } from 'ava';
import { type Click, type ClickEffect, effectOfClick } from '../../src/features/files/selection/click.js';
import type { RowOrder } from '../../src/features/files/selection/selection.js';

const keys = ['..', 'a', 'b'];
const order: RowOrder = {
	keys,
	count: keys.length,
	keyAt: (index) => keys[index],
	firstEntry: 1,
	indexOf: (key) => (keys.includes(key) ? keys.indexOf(key) : undefined),
};
const up = { key: '..', index: 0 };
const b = { key: 'b', index: 2 };
const plain: Click = { row: b, part: 'rest', isTouch: false, isShift: false, isControl: false, isRepeated: false };

const hasEffect = (t: ExecutionContext, click: Partial<Click>, effect: ClickEffect) =>
	t.deepEqual(effectOfClick({ ...plain, ...click }, order), effect);

const toggle: ClickEffect = { kind: 'select', action: { type: 'toggled', at: b } };
const extend = (keep: boolean): ClickEffect => ({ kind: 'select', action: { type: 'extended', to: b, order, keep } });

test('a click on a row opens it', hasEffect, {}, { kind: 'open', at: b });
test('a click on Up Directory opens it', hasEffect, { row: up }, { kind: 'open', at: up });
test('the second click of a double click does nothing', hasEffect, { isRepeated: true }, { kind: 'none' });
test(
	'a click on empty space clears the selection',
	hasEffect,
	{ row: undefined },
	{
		kind: 'select',
		action: { type: 'cleared' },
	},
);
test(
	'a click with Ctrl toggles a row, also the second of a double click',
	hasEffect,
	{
		isControl: true,
		isRepeated: true,
	},
	toggle,
);
test('a click with Ctrl does not select Up Directory', hasEffect, { row: up, isControl: true }, { kind: 'none' });
test('a click with Shift extends the selection', hasEffect, { isShift: true }, extend(false));
test(
	'a click with Ctrl and Shift extends the selection and keeps the rest',
	hasEffect,
	{
		isShift: true,
		isControl: true,
	},
	extend(true),
);
test('a click on the circle of a tile toggles it', hasEffect, { part: 'check' }, toggle);
test('a tap on the icon of a row toggles it', hasEffect, { part: 'type', isTouch: true }, toggle);
test('a click of a mouse on the icon of a row opens it', hasEffect, { part: 'type' }, { kind: 'open', at: b });
test(
	'a click on the button of a row opens its menu, whatever keys are held',
	hasEffect,
	{
		part: 'menu',
		isShift: true,
		isControl: true,
	},
	{ kind: 'menu', index: 2 },
);
