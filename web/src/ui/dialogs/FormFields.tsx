import { type ReactNode, useLayoutEffect, useRef } from 'react';

export interface FormFieldsProps {
	/** They are being sent. */
	isBusy: boolean;
	children: ReactNode;
}

/**
 * The fields of a form, which must be focusable itself (`tabIndex={-1}`). While they are being sent nothing can be changed
 * in them: the answer would close the form over what it is not about.
 */
export function FormFields({ isBusy, children }: FormFieldsProps) {
	const fields = useRef<HTMLDivElement>(null);
	const focusedBefore = useRef<HTMLElement>(undefined);
	useLayoutEffect(() => {
		const { activeElement: focused } = document;
		const form = fields.current?.closest('form');
		if (!isBusy) {
			// Not in a clean-up: React puts the focus back to where it was before that.
			if (focused === form) focusedBefore.current?.focus({ preventScroll: true });
			focusedBefore.current = undefined;
		} else if (focused instanceof HTMLElement && fields.current?.contains(focused)) {
			// What is inert loses the focus, and outside of the dialog Escape would not close it.
			focusedBefore.current = focused;
			form?.focus({ preventScroll: true });
		}
	}, [isBusy]);
	return (
		<div ref={fields} inert={isBusy}>
			{children}
		</div>
	);
}
