import { Menu, MenuDivider, MenuItem, PopoverInteractionKind, PopoverNext } from '@blueprintjs/core';
import { Fragment, useLayoutEffect, useRef } from 'react';
import { moveInMenu } from '../../../ui/keyboard/menuKeys.js';
import { useLatest } from '../../../ui/useLatest.js';
import type { Point } from '../selection/marquee.js';
import { actionIcons } from './actionIcons.js';
import styles from './ContextMenu.module.css';
import { closeFromOutside, focusFirst } from './closeFromOutside.js';
import type { Action, AnyAction, MenuItem as Item, MenuKind } from './menu.js';

export interface ContextMenuProps<A extends AnyAction = Action> {
	/** The accessible name. */
	label: string;
	kind: MenuKind;
	groups: readonly (readonly Item<A>[])[];
	at: Point;
	onChoose: (action: A) => void;
	/** Closed without a choice. */
	onClose: () => void;
}

const dangerous: ReadonlySet<AnyAction> = new Set(['delete', 'deleteForever', 'emptyTrash']);

/** The space between the menu and the edge of the window. */
const padding = 10;

/**
 * A menu at a point, flipped or shifted to stay within the window. Blueprint places it and counts it among what is
 * open. Presses outside of it are handled here, without a backdrop: they close it at once, and a drag or a scroll that
 * begins so is not lost; and what a long press opens stays when its finger is lifted.
 */
export function ContextMenu<A extends AnyAction>({ at, onClose, ...items }: ContextMenuProps<A>) {
	const { x: left, y: top } = at;
	return (
		<PopoverNext
			// Another point is another place.
			key={`${left} ${top}`}
			isOpen
			renderTarget={({ ref }) => <div ref={ref} className={styles.point} style={{ left, top }} />}
			placement="right-start"
			positioningStrategy="fixed"
			middleware={{ flip: { padding }, shift: { padding, crossAxis: true } }}
			arrow={false}
			animation="minimal"
			transitionDuration={0}
			usePortal={false}
			lazy={false}
			// Presses outside of it are up to `closeFromOutside`.
			interactionKind={PopoverInteractionKind.CLICK_TARGET_ONLY}
			canEscapeKeyClose={false}
			autoFocus={false}
			enforceFocus={false}
			shouldReturnFocusOnClose={false}
			content={<Items {...items} onClose={onClose} />}
		/>
	);
}

function Items<A extends AnyAction>({ label, kind, groups, onChoose, onClose }: Omit<ContextMenuProps<A>, 'at'>) {
	const box = useRef<HTMLDivElement>(null);
	const latest = useLatest(onClose);
	useLayoutEffect(() => {
		const element = box.current;
		if (!element) return;
		focusFirst(element);
		return closeFromOutside(element, () => latest.current());
	}, []);

	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: the menu inside has the role
		<div
			ref={box}
			className={styles.items}
			data-kind={kind}
			onContextMenu={(event) => event.preventDefault()}
			onKeyDown={(event) => {
				if (event.key === 'Escape' || event.key === 'Tab') {
					event.preventDefault();
					event.stopPropagation();
					onClose();
				}
			}}
		>
			<Menu aria-label={label} onKeyDown={moveInMenu}>
				{groups.map((group, index) => (
					<Fragment key={group[0]?.action}>
						{index > 0 && <MenuDivider />}
						{group.map((item) => (
							<MenuItem
								key={item.action}
								tagName="button"
								icon={actionIcons[item.action]}
								text={item.label}
								intent={dangerous.has(item.action) ? 'danger' : 'none'}
								disabled={item.isDisabled ?? false}
								aria-keyshortcuts={item.shortcut?.replace('Ctrl', 'Control').replace(/Del$/, 'Delete')}
								labelElement={item.shortcut && <span aria-hidden="true">{item.shortcut}</span>}
								onClick={() => onChoose(item.action)}
							/>
						))}
					</Fragment>
				))}
			</Menu>
		</div>
	);
}
