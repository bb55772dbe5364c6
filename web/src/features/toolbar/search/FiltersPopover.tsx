import { PopoverNext, PopupKind } from '@blueprintjs/core';
import type { SearchFilters } from '@stowage/rules';
import { type ReactElement, type RefObject, useLayoutEffect, useState } from 'react';
import styles from './Filters.module.css';
import { FiltersForm } from './FiltersForm.js';
import { searchMessages as messages } from './messages.js';

export interface FiltersPopoverProps {
	/** The button, to which the popover belongs. */
	children: ReactElement;
	button: RefObject<HTMLButtonElement | null>;
	/** The button was pressed before this was loaded. */
	isOpenAtFirst: boolean;
	filters: SearchFilters;
	onApply: (filters: SearchFilters) => void;
}

/** The form of the filters below their button. Closed in another way than by `Apply`, they stay as they were. */
export function FiltersPopover({ children, button, isOpenAtFirst, filters, onApply }: FiltersPopoverProps) {
	const [isOpen, setOpen] = useState(false);
	useLayoutEffect(() => {
		if (!isOpenAtFirst) return;
		// The button that had it is gone, and an open popover gives the focus back to what had it before.
		button.current?.focus({ preventScroll: true });
		setOpen(true);
	}, [isOpenAtFirst, button]);
	return (
		<PopoverNext
			isOpen={isOpen}
			onInteraction={setOpen}
			popoverClassName={styles.popover}
			placement="bottom-end"
			positioningStrategy="fixed"
			middleware={{ flip: { padding: 8 }, shift: { padding: 8, crossAxis: true } }}
			arrow={false}
			hasBackdrop
			animation="minimal"
			transitionDuration={100}
			popupKind={PopupKind.DIALOG}
			autoFocus={false}
			onOpening={(element) => element.querySelector('input')?.focus({ preventScroll: true })}
			content={
				<div role="dialog" aria-label={messages.filters}>
					<FiltersForm
						filters={filters}
						onApply={(applied) => {
							setOpen(false);
							onApply(applied);
						}}
					/>
				</div>
			}
		>
			{children}
		</PopoverNext>
	);
}
