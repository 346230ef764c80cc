/** Reports directives that switch a rule off without saying why: `eslint-disable-next-line rule -- reason`. */
export default {
  meta: { type: "problem", schema: [] },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          if (!/^\s*eslint-disable/.test(comment.value) || /\s--\s+\S/.test(comment.value)) continue;
          const { line } = comment.loc.start;
          // Column -1: before the comment itself, so that a blanket eslint-disable does not silence this report too.
          context.report({ loc: { line, column: -1 }, message: "Say why, after ` -- `." });
        }
      },
    };
  },
};
