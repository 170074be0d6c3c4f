/** Conventional Commits, which says nothing of lengths and cases: https://www.conventionalcommits.org/en/v1.0.0/ */
export default {
  extends: ['@commitlint/config-conventional'],
  rules: { 'header-max-length': [0], 'subject-case': [0], 'body-max-line-length': [0], 'footer-max-line-length': [0] },
};
