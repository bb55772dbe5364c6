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
	useLayoutEffect(() => {
		const { activeElement: focused } = document;
		if (!isBusy || !(focused instanceof HTMLElement) || !fields.current?.contains(focused)) return;
		// What is inert loses the focus, and outside of the dialog Escape would not close it.
		const form = fields.current.closest('form');
		form?.focus({ preventScroll: true });
		return () => {
			if (document.activeElement === form) focused.focus({ preventScroll: true });
		};
	}, [isBusy]);
	return (
		<div ref={fields} inert={isBusy}>
			{children}
		</div>
	);
}
