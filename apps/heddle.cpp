#include <heddle/apps/front/front.hpp>

int main(int argc, char** argv) { return heddle::apps::run_front(argc, argv); }
